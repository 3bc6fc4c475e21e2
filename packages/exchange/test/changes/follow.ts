/** Test helpers that read the change log as a party does. */
import type { DevParty, Reply, TestExchange } from '@measurement-exchange/testkit/exchange';
import { ok } from '@measurement-exchange/testkit/steps';
import { expect, vi } from 'vitest';

type Json = Reply['json'];
type Party = Pick<DevParty, 'name' | 'token'>;
type Called = Pick<TestExchange, 'call'>;

export function page(exchange: Called, party: Party, query = ''): Promise<Json> {
  return ok(exchange.call(party.token, 'GET', `/v2alpha/${party.name}/changes?${query}`));
}

const HELD_BACK = `SELECT FROM changes WHERE party = $1 AND xid >= pg_snapshot_xmin(pg_current_snapshot())`;

/** Returns a page token whose position is after all existing changes. */
export async function tokenNow(
  exchange: Called & Pick<TestExchange, 'database'>,
  party: Party,
): Promise<string> {
  const isReadable = async () => (await exchange.database.query(HELD_BACK, [party.name])).length === 0;
  await vi.waitUntil(isReadable, { timeout: 30_000, interval: 10 });
  return (await page(exchange, party)).nextPageToken;
}

/** Formats a change as its name (without the party's name), state, and version. */
export function lineOf(party: Party, { name, state, version }: Json): string {
  const own = name.slice(party.name.length + 1);
  return [own, state, version].filter((part) => part !== undefined && part !== '').join(' ');
}

/**
 * Waits until at least `count` changes follow a token, and returns all changes after the token. The wait is necessary,
 * because transactions of other tests on this server may delay changes.
 */
export async function changesBehind(
  exchange: TestExchange,
  party: Party,
  token: string,
  count: number,
): Promise<Json[]> {
  let found: Json[] = [];
  const read = async () => {
    found = (await page(exchange, party, `pageSize=1000&pageToken=${token}`)).changes;
    return found.length;
  };
  await expect.poll(read, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(count);
  return found;
}
