import { listBindings } from '../../database/principals.ts';
import type { Handler } from '../context.ts';
import { byCreation } from '../paging.ts';
import { viewPrincipal } from './view.ts';

export const listPrincipals: Handler<'listPrincipals'> = async (exchange, _call, { query }) => {
  const resource = query['filter.resource'];
  const page = exchange.pageTokens.page(['listPrincipals', '', resource], query);
  const { items, more } = await listBindings(exchange.db, resource, page.after, page.limit);
  return {
    principals: items.map(viewPrincipal),
    nextPageToken: page.next(more, items, byCreation),
  };
};
