import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { readChanges } from '../../database/changes.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE } from '../paging.ts';
import { changeTokenExpired, startOf, tokenAt, viewChange } from './token.ts';

/** Rows that a page with a filter looks at; it may hold none of them, and its token is behind them. */
const MAX_LOOKED = 1000;

export async function listChanges(
  exchange: Exchange,
  _call: Call,
  { path, query }: RequestOf<'listChanges'>,
): Promise<ResponseOf<'listChanges'>> {
  const party = path.slice(0, path.lastIndexOf('/'));
  const kinds = query['filter.kinds'];
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const after = await startOf(exchange, party, query);
  const page = await readChanges(exchange.db, party, after, kinds === undefined ? limit : MAX_LOOKED);
  if (page === undefined) throw changeTokenExpired();
  const wanted = page.changes.filter(({ change }) => kinds?.includes(change.kind) ?? true);
  const taken = wanted.slice(0, limit);
  const next = taken.length < wanted.length ? taken.at(-1)!.at : page.next;
  return {
    changes: taken.map(({ change }) => viewChange(change)),
    nextPageToken: tokenAt(exchange, party, next),
  };
}
