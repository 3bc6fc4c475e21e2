import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { listPopulations as list } from '../../database/populations.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { viewPopulation } from './view.ts';

export async function listPopulations(
  exchange: Exchange,
  _call: Call,
  { query }: RequestOf<'listPopulations'>,
): Promise<ResponseOf<'listPopulations'>> {
  const scope: ListScope = ['listPopulations', ''];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const { items, more } = await list(exchange.db, after, limit, MAX_PAGE_BYTES);
  const last = items.at(-1);
  return {
    populations: items.map(viewPopulation),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
      : undefined,
  };
}
