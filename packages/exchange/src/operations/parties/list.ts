import type { ResponseOf } from '@measurement-exchange/contract';
import { listParties as list } from '../../database/parties.ts';
import type { Handler } from '../context.ts';
import { viewParty } from './view.ts';

export const listParties: Handler<'listParties'> = async (exchange, _call, { path: collection, query }) => {
  const page = exchange.pageTokens.page(['listParties', collection], query);
  const { items, more } = await list(exchange.db, collection, page.after, page.limit, exchange.clock());
  return {
    [collection]: items.map(viewParty),
    nextPageToken: page.next(more, items, ({ createTime, name }) => ({ time: createTime, id: name })),
  } as ResponseOf<'listParties'>;
};
