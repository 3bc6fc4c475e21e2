import { listTrustedRoots as list } from '../../database/trustedRoots.ts';
import type { Handler } from '../context.ts';
import { byCreation } from '../paging.ts';
import { viewTrustedRoot } from './view.ts';

export const listTrustedRoots: Handler<'listTrustedRoots'> = async (exchange, _call, { query }) => {
  const page = exchange.pageTokens.page(['listTrustedRoots', ''], query);
  const { items, more } = await list(exchange.db, page.after, page.limit);
  return {
    trustedRoots: items.map(viewTrustedRoot),
    nextPageToken: page.next(more, items, byCreation),
  };
};
