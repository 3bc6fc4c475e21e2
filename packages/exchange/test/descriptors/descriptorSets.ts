/** Small descriptor sets as JSON, and helpers that return the exchange's output for them. */
import { printDescriptorSet, readDescriptorSet } from '../../src/protobuf/descriptor/descriptorSet.ts';

/** Returns the violations that the exchange finds in a set of these files, each as text: `field description`. */
export function violationsOf(...file: object[]): string[] {
  const result = readDescriptorSet({ json: { file } });
  return 'violations' in result ? result.violations.map((v) => `${v.field} ${v.description}`) : [];
}

/** Returns the JSON that the exchange prints for a set. */
export function jsonOf(bytes: Uint8Array): unknown {
  return JSON.parse(printDescriptorSet(bytes)!);
}

/** Returns the descriptor of a file with one message. `members` are members of the message descriptor. */
export const message = (members: object, file: object = {}) => ({
  name: 'a.proto',
  package: 'a',
  messageType: [{ name: 'M', ...members }],
  ...file,
});

export const INT = { name: 'f', number: 1, type: 'TYPE_INT32' };

/**
 * Returns the descriptor of a file whose only message has one field. `members` are members of the field's descriptor.
 * Violations name the field as FIELD.
 */
export const field = (members: object, file: object = {}) =>
  message({ field: [{ ...INT, ...members }] }, file);

export const FIELD = 'file[0].messageType[0].field[0]';

export const proto3 = { syntax: 'proto3' };
