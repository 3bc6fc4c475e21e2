import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { listTrustedRoots as list } from '../../database/trustedRoots.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope } from '../paging.ts';
import { viewTrustedRoot } from './view.ts';

export async function listTrustedRoots(
  exchange: Exchange,
  _call: Call,
  { query }: RequestOf<'listTrustedRoots'>,
): Promise<ResponseOf<'listTrustedRoots'>> {
  const scope: ListScope = ['listTrustedRoots', ''];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const { items, more } = await list(exchange.db, after, query.pageSize ?? DEFAULT_PAGE_SIZE);
  const last = items.at(-1);
  return {
    trustedRoots: items.map(viewTrustedRoot),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
      : undefined,
  };
}
