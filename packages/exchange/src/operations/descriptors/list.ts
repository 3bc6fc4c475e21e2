import { type RequestOf, type ResponseOf, WILDCARD } from '@measurement-exchange/contract';
import { listDescriptors } from '../../database/descriptors.ts';
import { partyExists } from '../../database/parties.ts';
import { partyName } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { viewDescriptors } from './view.ts';

export async function listEventGroupMetadataDescriptors(
  exchange: Exchange,
  call: Call,
  { params, query }: RequestOf<'listEventGroupMetadataDescriptors'>,
): Promise<ResponseOf<'listEventGroupMetadataDescriptors'>> {
  const provider =
    params.dataProvider === WILDCARD ? undefined : partyName('dataProvider', params.dataProvider);
  const scope: ListScope = ['listEventGroupMetadataDescriptors', params.dataProvider];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const encoding = query.descriptorSetEncoding;
  const isJson = encoding !== 'BASE64';
  const { items, more } = await listDescriptors(exchange.db, provider, after, limit, MAX_PAGE_BYTES, isJson);
  if (items.length === 0 && provider !== undefined && !(await partyExists(exchange.db, provider))) {
    throw partyNotFound(provider);
  }
  const views = items.length === 0 ? [] : await viewDescriptors(call, items, encoding, MAX_PAGE_BYTES);
  const last = items[views.length - 1];
  return {
    eventGroupMetadataDescriptors: views,
    nextPageToken:
      more || views.length < items.length
        ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
        : undefined,
  };
}
