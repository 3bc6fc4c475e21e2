import { getDescriptor } from '../../database/descriptors.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { MAX_PAGE_BYTES } from '../paging.ts';
import { requireDescriptor, viewDescriptors } from './view.ts';

export const getEventGroupMetadataDescriptor: Handler<'getEventGroupMetadataDescriptor'> = async (
  exchange,
  call,
  { params, path, query },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const found = await getDescriptor(exchange.db, provider, params.eventGroupMetadataDescriptor);
  const descriptors = [requireDescriptor(found, path)];
  const [view] = await viewDescriptors(call, descriptors, query.descriptorSetEncoding, MAX_PAGE_BYTES);
  return view!;
};
