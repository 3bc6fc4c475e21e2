import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { MAX_PAGE_BYTES } from '../paging.ts';
import { descriptorName, descriptorNotFound, viewDescriptors } from './view.ts';

export const getEventGroupMetadataDescriptor: Handler<'getEventGroupMetadataDescriptor'> = async (
  exchange,
  call,
  { params, query },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroupMetadataDescriptor;
  const found = await getDescriptor(exchange.db, provider, id);
  if (found === undefined) throw descriptorNotFound(descriptorName(provider, id));
  const [view] = await viewDescriptors(call, [found], query.descriptorSetEncoding, MAX_PAGE_BYTES);
  return view!;
};
