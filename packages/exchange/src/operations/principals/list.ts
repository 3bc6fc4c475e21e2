import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { listBindings } from '../../database/principals.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope } from '../paging.ts';
import { viewPrincipal } from './view.ts';

export async function listPrincipals(
  exchange: Exchange,
  _call: Call,
  { query }: RequestOf<'listPrincipals'>,
): Promise<ResponseOf<'listPrincipals'>> {
  const resource = query['filter.resource'];
  const scope: ListScope = ['listPrincipals', '', resource];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const { items, more } = await listBindings(exchange.db, resource, after, limit);
  const last = items.at(-1);
  return {
    principals: items.map(viewPrincipal),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
      : undefined,
  };
}
