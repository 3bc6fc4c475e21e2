/** Creates and reads tokens for positions in the change log. A token is valid for one party, with any filter. */
import { type Change, ExchangeError } from '@measurement-exchange/contract';
import { latestPosition, type Position, positionBeforeNewest } from '../../database/changes.ts';
import type { ChangeRecord } from '../../domain/changes.ts';
import type { Exchange } from '../context.ts';
import { type ListScope, START } from '../paging.ts';

const scopeOf = (party: string): ListScope => ['listChanges', party];

export function tokenAt({ pageTokens }: Exchange, party: string, { xid, seq }: Position): string {
  return pageTokens.write(scopeOf(party), { time: xid, id: String(seq) });
}

/**
 * Returns the position from which a caller reads. For `NEWEST`, this is the position before the newest `count` changes.
 */
export async function startOf(
  exchange: Exchange,
  party: string,
  { pageToken, from }: { pageToken?: string | undefined; from?: 'NOW' | 'OLDEST' | 'NEWEST' | undefined },
  count = 0,
): Promise<Position | 'OLDEST'> {
  const cursor = exchange.pageTokens.read(scopeOf(party), pageToken);
  if (cursor !== START) return { xid: cursor.time, seq: BigInt(cursor.id) };
  if (from === 'NEWEST') return (await positionBeforeNewest(exchange.db, party, count)) ?? 'OLDEST';
  return from === 'OLDEST' ? 'OLDEST' : latestPosition(exchange.db, party);
}

export function viewChange({ party: _, ...change }: ChangeRecord): Change {
  return change as Change;
}

export function changeTokenExpired(): ExchangeError {
  return new ExchangeError(
    'CHANGE_TOKEN_EXPIRED',
    'The log of changes no longer reaches back to this token: get a new token (without pageToken), list the ' +
      'resources, then continue from the new token.',
  );
}
