import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { listParties as list } from '../../database/parties.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope } from '../paging.ts';
import { viewParty } from './view.ts';

export async function listParties(
  exchange: Exchange,
  _call: Call,
  { path: collection, query }: RequestOf<'listParties'>,
): Promise<ResponseOf<'listParties'>> {
  const scope: ListScope = ['listParties', collection];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const { items, more } = await list(exchange.db, collection, after, limit, exchange.clock());
  const last = items.at(-1);
  return {
    [collection]: items.map(viewParty),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.name })
      : undefined,
  } as ResponseOf<'listParties'>;
}
