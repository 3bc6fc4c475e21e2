import {
  type EventGroupMetadataDescriptor,
  ExchangeError,
  JsonText,
  toBase64,
} from '@measurement-exchange/contract';
import type { DescriptorRecord } from '../../database/descriptors.ts';
import { requireFound } from '../../domain/found.ts';
import type { Call } from '../context.ts';
import type { Version } from '../mutate.ts';

export type Encoding = 'JSON' | 'BASE64' | undefined;

export function descriptorName(provider: string, id: string): string {
  return `${provider}/eventGroupMetadataDescriptors/${id}`;
}

/**
 * Converts a descriptor to an API resource. `json` is the set as JSON text. Without it, the set is returned as base64.
 */
export function viewDescriptor(
  { provider, id, descriptorSet }: DescriptorRecord,
  json: string | undefined,
): EventGroupMetadataDescriptor {
  const name = descriptorName(provider, id);
  return { name, descriptorSet: json === undefined ? toBase64(descriptorSet) : new JsonText(json) };
}

/**
 * Converts descriptors to API resources. Unless the encoding is BASE64, returns only as many resources as fit into
 * `maxBytes`, but at least one.
 */
export async function viewDescriptors(
  call: Call,
  descriptors: DescriptorRecord[],
  encoding: Encoding,
  maxBytes: number,
): Promise<EventGroupMetadataDescriptor[]> {
  if (encoding === 'BASE64') return descriptors.map((d) => viewDescriptor(d, undefined));
  const sets = descriptors.map(({ descriptorSet }) => descriptorSet);
  const texts = await call.compute('printSets', { sets, maxBytes }).catch((error) => {
    // If a set is too costly to convert, return all sets as base64. Only an earlier version of the exchange accepted
    // such sets.
    if (isTooCostly(error)) return sets.map(() => undefined);
    throw error;
  });
  return texts.map((json, i) => viewDescriptor(descriptors[i]!, json));
}

export function isTooCostly(error: unknown): boolean {
  return error instanceof ExchangeError && error.reason === 'DESCRIPTOR_TOO_COSTLY';
}

/**
 * Returns the maximum size of a descriptor in a response. For JSON, the maximum is at least the base64 size, because a
 * set is returned as base64 if its conversion to JSON is too costly. If an earlier version of the exchange stored the
 * descriptor, `jsonBytes` is missing, and the JSON may be larger than the result.
 */
export function printedBytes({ descriptorSet, jsonBytes = 0 }: DescriptorRecord, encoding: Encoding): number {
  const base64 = Math.ceil(descriptorSet.length / 3) * 4;
  return encoding === 'BASE64' ? base64 : Math.max(base64, jsonBytes);
}

export function sizeOf({ descriptorSet }: EventGroupMetadataDescriptor): number {
  return descriptorSet instanceof JsonText ? descriptorSet.text.length : (descriptorSet as string).length;
}

export function versionOf(d: DescriptorRecord): Version {
  return { name: descriptorName(d.provider, d.id), version: d.version, time: d.updateTime };
}

export function requireDescriptor(found: DescriptorRecord | undefined, name: string): DescriptorRecord {
  return requireFound(found, 'EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', name);
}
