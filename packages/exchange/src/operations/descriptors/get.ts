import type { EventGroupMetadataDescriptor, RequestOf } from '@measurement-exchange/contract';
import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { descriptorName, descriptorNotFound, viewDescriptor } from './view.ts';

export async function getEventGroupMetadataDescriptor(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'getEventGroupMetadataDescriptor'>,
): Promise<EventGroupMetadataDescriptor> {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroupMetadataDescriptor;
  const found = await getDescriptor(exchange.db, provider, id);
  if (found === undefined) throw descriptorNotFound(descriptorName(provider, id));
  return viewDescriptor(found, query.descriptorSetEncoding);
}
