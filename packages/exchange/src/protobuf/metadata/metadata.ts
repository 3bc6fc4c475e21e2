/**
 * Reads an event group's readable metadata, a google.protobuf.Any that must match the event group's descriptor exactly.
 * A client sends proto3 JSON with `@type`, or serialized bytes. The exchange stores bytes.
 */
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import {
  camelCase,
  fromBase64,
  type JsonObject,
  type JsonValue,
  REQUIRED,
  readWire,
  type Violation,
} from '@measurement-exchange/contract';
import { inspectJson, jsonText } from '../descriptor/json.ts';
import { Report } from '../descriptor/model.ts';
import { readMessageJson } from './json.ts';
import { checkMessage } from './message.ts';
import { findType, type MetadataSchema } from './schema.ts';

export interface Metadata {
  typeUrl: string;
  /** The request's bytes, or the serialized message if the request contained JSON. */
  value: Uint8Array;
  /** The message in proto3 JSON, without `@type`. */
  json: JsonObject;
  text: string;
}

export type MetadataResult = Metadata | { violations: Violation[] };

/**
 * The maximum sizes of a message, in bytes: in the wire format and as JSON. JSON has its own limit, because a field or
 * an enum value that takes only a few bytes in the wire format may have a long name in JSON. In addition, the JSON of
 * 50 messages must fit in a response.
 */
export const MAX_METADATA_BYTES = 1024 * 1024;
export const MAX_METADATA_JSON = 1024 * 1024;

/**
 * Reads and checks metadata. Field paths in violations are relative to the Any. The empty path means the Any itself.
 */
export function readMetadata(schema: MetadataSchema, any: unknown): MetadataResult {
  return Report.of((report) => {
    const given = any as JsonValue;
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return report.reject('', '', 'must be an object with @type, or with typeUrl and value');
    }
    if ('@type' in given) return fromMembers(schema, given as JsonObject, report);
    const { typeUrl, value } = rawMembers(given as JsonObject, report);
    return fromBytes(schema, 'typeUrl', typeUrl, value, report);
  });
}

/** Decodes a serialized message. Field paths in violations are relative to the message, except for `typeUrl`. */
export function decodeMetadata(schema: MetadataSchema, typeUrl: string, value: Uint8Array): MetadataResult {
  return Report.of((report) => fromBytes(schema, 'typeUrl', typeUrl, value, report));
}

export function within(field: string, violations: Violation[]): Violation[] {
  return violations.map((v) => ({ ...v, field: v.field === '' ? field : `${field}.${v.field}` }));
}

function rawMembers(any: JsonObject, report: Report): { typeUrl: string; value: Uint8Array } {
  const members = new Map(Object.entries(any).map(([key, value]) => [camelCase(key), value]));
  const typeUrl = members.get('typeUrl');
  const value = members.get('value');
  for (const key of Object.keys(any)) {
    if (camelCase(key) !== 'typeUrl' && key !== 'value') report.add('', key, 'is not a known field');
  }
  if (Object.hasOwn(any, 'typeUrl') && Object.hasOwn(any, 'type_url'))
    report.add('', 'type_url', 'is given twice');
  const bytes = typeof value === 'string' ? fromBase64(value) : undefined;
  if (typeUrl === undefined) report.add('', 'typeUrl', REQUIRED);
  else if (typeof typeUrl !== 'string') report.add('', 'typeUrl', 'must be a string');
  if (value === undefined) report.add('', 'value', REQUIRED);
  else if (bytes === undefined) report.add('', 'value', 'must be base64');
  report.requireNone();
  return { typeUrl: typeUrl as string, value: bytes! };
}

const MAX_TYPE_URL = 512;

function typeOf(schema: MetadataSchema, member: string, typeUrl: unknown, report: Report) {
  const isText = typeof typeUrl === 'string' && typeUrl.length <= MAX_TYPE_URL;
  const type = isText ? findType(schema, typeUrl) : undefined;
  if (type === undefined) report.add('', member, 'is not a message that the descriptor defines');
  return type;
}

function fromMembers(schema: MetadataSchema, any: JsonObject, report: Report): Metadata {
  const { '@type': typeUrl, ...fields } = any;
  const type = typeOf(schema, '@type', typeUrl, report);
  if (inspectJson(fields, schema.limits).exceeds) {
    report.add('', '', 'has too many elements, or nests them too deep');
  }
  report.requireNone();
  const json = readMessageJson(schema, type!, fields, report);
  report.requireNone();
  const message = fromJson(type!, json as never, { registry: schema.registry });
  return fromBytes(schema, '@type', typeUrl as string, toBinary(type!, message), report);
}

function fromBytes(
  schema: MetadataSchema,
  member: string,
  typeUrl: string,
  value: Uint8Array,
  report: Report,
): Metadata {
  const type = typeOf(schema, member, typeUrl, report);
  report.requireNone();
  if (value.length > MAX_METADATA_BYTES) report.reject('', '', `is larger than ${MAX_METADATA_BYTES} bytes`);
  const wire = readWire(type!, value, schema.limits);
  if ('reason' in wire) report.reject(wire.field, '', wire.reason);

  const message = fromBinary(type!, value);
  checkMessage(schema, reflect(type!, message), report);
  report.requireNone();
  const json = toJson(type!, message, { registry: schema.registry }) as JsonObject;
  const text = jsonText(json, MAX_METADATA_JSON);
  if (text === undefined) report.add('', '', `takes more than ${MAX_METADATA_JSON} bytes as JSON`);
  if (Object.hasOwn(json, '@type'))
    report.add('', '@type', 'is a field of the message, and the type of an Any');
  report.requireNone();
  return { typeUrl, value, json, text: text! };
}

export function anyText({ typeUrl, text }: Metadata): string {
  const type = `{"@type":${JSON.stringify(typeUrl)}`;
  return text === '{}' ? `${type}}` : `${type},${text.slice(1)}`;
}
