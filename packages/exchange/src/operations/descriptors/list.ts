import { WILDCARD } from '@measurement-exchange/contract';
import { listDescriptors } from '../../database/descriptors.ts';
import { partyExists } from '../../database/parties.ts';
import { partyName } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { byCreation, MAX_PAGE_BYTES } from '../paging.ts';
import { viewDescriptors } from './view.ts';

export const listEventGroupMetadataDescriptors: Handler<'listEventGroupMetadataDescriptors'> = async (
  exchange,
  call,
  { params, query },
) => {
  const provider =
    params.dataProvider === WILDCARD ? undefined : partyName('dataProvider', params.dataProvider);
  const page = exchange.pageTokens.page(['listEventGroupMetadataDescriptors', params.dataProvider], query);
  const { after, limit } = page;
  const encoding = query.descriptorSetEncoding;
  const isJson = encoding !== 'BASE64';
  const { items, more } = await listDescriptors(exchange.db, provider, after, limit, MAX_PAGE_BYTES, isJson);
  if (items.length === 0 && provider !== undefined && !(await partyExists(exchange.db, provider))) {
    throw partyNotFound(provider);
  }
  const views = items.length === 0 ? [] : await viewDescriptors(call, items, encoding, MAX_PAGE_BYTES);
  const shown = items.slice(0, views.length);
  return {
    eventGroupMetadataDescriptors: views,
    nextPageToken: page.next(more || shown.length < items.length, shown, byCreation),
  };
};
