import { listApiKeys as list } from '../../database/apiKeys.ts';
import { partyExists } from '../../database/parties.ts';
import { partyOf } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { byCreation } from '../paging.ts';
import { viewApiKey } from './view.ts';

export const listApiKeys: Handler<'listApiKeys'> = async (exchange, _call, { path, query }) => {
  const consumer = partyOf(path);
  const page = exchange.pageTokens.page(['listApiKeys', consumer], query);
  const { items, more } = await list(exchange.db, consumer, page.after, page.limit);
  if (items.length === 0 && !(await partyExists(exchange.db, consumer))) throw partyNotFound(consumer);
  return {
    apiKeys: items.map(viewApiKey),
    nextPageToken: page.next(more, items, byCreation),
  };
};
