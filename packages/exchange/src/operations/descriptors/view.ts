/** Descriptors of metadata as resources of the API. */
import { type EventGroupMetadataDescriptor, ExchangeError, toBase64 } from '@measurement-exchange/contract';
import type { DescriptorRecord } from '../../database/descriptors.ts';
import { descriptorSetToJson } from '../../domain/descriptor/descriptorSet.ts';
import type { Version } from '../mutate.ts';

export type Encoding = 'JSON' | 'BASE64' | undefined;

export function descriptorName(provider: string, id: string): string {
  return `${provider}/eventGroupMetadataDescriptors/${id}`;
}

export function viewDescriptor(d: DescriptorRecord, encoding: Encoding): EventGroupMetadataDescriptor {
  const descriptorSet =
    encoding === 'BASE64' ? toBase64(d.descriptorSet) : descriptorSetToJson(d.descriptorSet);
  return { name: descriptorName(d.provider, d.id), descriptorSet };
}

/** How much larger a set is in a response. In JSON, the fields of messages take up to six times their bytes. */
export function growth(encoding: Encoding): number {
  return encoding === 'BASE64' ? 4 / 3 : 6;
}

export function versionOf(d: DescriptorRecord): Version {
  return { name: descriptorName(d.provider, d.id), version: d.version, time: d.updateTime };
}

export function descriptorNotFound(name: string, code?: 'FAILED_PRECONDITION'): ExchangeError {
  return new ExchangeError('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', `${name} does not exist.`, {
    ...(code && { code }),
    metadata: { eventGroupMetadataDescriptor: name },
  });
}
