import { type RequestOf, type ResponseOf, WILDCARD } from '@measurement-exchange/contract';
import { listDescriptors } from '../../database/descriptors.ts';
import { partyExists } from '../../database/parties.ts';
import { partyName } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { growth, viewDescriptor } from './view.ts';

export async function listEventGroupMetadataDescriptors(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listEventGroupMetadataDescriptors'>,
): Promise<ResponseOf<'listEventGroupMetadataDescriptors'>> {
  const provider =
    params.dataProvider === WILDCARD ? undefined : partyName('dataProvider', params.dataProvider);
  const scope: ListScope = ['listEventGroupMetadataDescriptors', params.dataProvider];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const maxBytes = Math.floor(MAX_PAGE_BYTES / growth(query.descriptorSetEncoding));
  const { items, more } = await listDescriptors(exchange.db, provider, after, limit, maxBytes);
  if (items.length === 0 && provider !== undefined && !(await partyExists(exchange.db, provider))) {
    throw partyNotFound(provider);
  }
  const last = items.at(-1);
  return {
    eventGroupMetadataDescriptors: items.map((d) => viewDescriptor(d, query.descriptorSetEncoding)),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
      : undefined,
  };
}
