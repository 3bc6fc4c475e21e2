/**
 * Tests transactions that stay open while later transactions begin and commit. Readers must still get all changes, in
 * the right order.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { timestampOf } from '@measurement-exchange/contract';
import { query } from '@measurement-exchange/server/database';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { castOf, createMeasurement, fulfill, ok, requisitionOf } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Database, type Transaction } from '../../src/database/db.ts';
import { lockMeasurement } from '../../src/database/measurements.ts';
import { saveMeasurements } from '../../src/database/writeMeasurements.ts';
import { cancel } from '../../src/domain/measurement.ts';
import { page, tokenNow } from './follow.ts';
import { useStreams } from './stream.ts';

/**
 * The transactions stay open for at least this time. With `npm run stress`, it is longer than the 8 s after which the
 * exchange ends its own transactions.
 */
const HELD_MS = rounds(10_000, 300);
const LATE = 3;
vi.setConfig({ testTimeout: 60_000 + LATE * HELD_MS });

type Json = Reply['json'];
const exchange = useExchange({ rate: UNLIMITED });
const watch = useStreams(exchange);
let acme: DevParty;
let streamly: DevParty;
let db: Database;
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
  db = new Database({ connection: { connectionString: exchange.database.url }, applicationName: 'test' });
});
afterAll(() => db.close());

/**
 * Cancels a measurement with the statements of the exchange. The transaction stays open until the caller calls the
 * returned function.
 */
async function beginCancel(measurement: Json): Promise<() => Promise<void>> {
  const client = await db.pool.connect();
  const sent: Promise<unknown>[] = [];
  const tx: Transaction = {
    query: (statement, values) => query(client, statement, values),
    last: (statement, values) => sent.push(query(client, statement, values)),
    commit: () => {},
    rollback: () => {},
  };
  await client.query('SET idle_in_transaction_session_timeout = 0');
  await client.query('BEGIN');
  const before = await lockMeasurement(tx, acme.name, measurement.name.split('/').at(-1));
  const change = cancel(before!, timestampOf(Date.now()));
  saveMeasurements(tx, [{ before: before!, change }], { actor: acme.name, requestId: 'late', findings: [] });
  await Promise.all(sent);
  return async () => {
    await client.query('COMMIT');
    client.release(true);
  };
}

/**
 * Creates and fulfills a measurement in transactions that commit immediately. Returns the lines that readers must get
 * for the three versions of the measurement.
 */
async function succeed(): Promise<string[]> {
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  await ok(fulfill(exchange, streamly, await requisitionOf(exchange, streamly, measurement), 1n));
  return [1, 2, 3].map((version) => `${measurement.name} ${version}`);
}

const MEASUREMENTS = 'filter.kinds=MEASUREMENT';

/** Reads one page of at most two changes after another, until `stop` is called. */
function followPages(token: string) {
  const lines: string[] = [];
  const stopping = new AbortController();
  const done = (async () => {
    for (let next = token; !stopping.signal.aborted; ) {
      const read = await page(exchange, acme, `${MEASUREMENTS}&pageSize=2&waitSeconds=1&pageToken=${next}`);
      lines.push(...read.changes.map(({ name, version }: Json) => `${name} ${version}`));
      next = read.nextPageToken;
    }
  })();
  return {
    lines,
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}

it(`returns changes once and in log order if their transactions commit ${HELD_MS} ms after later ones`, async () => {
  const late: Json[] = [];
  for (let i = 0; i < LATE; i++) late.push(await createMeasurement(exchange, acme, [streamly]));
  const token = await tokenNow(exchange, acme);
  const [pages, stream] = [followPages(token), await watch(acme, `${MEASUREMENTS}&pageToken=${token}`)];
  const lines = () => [pages.lines, stream.lines];

  const before = await succeed();
  await expect.poll(lines, { timeout: 20_000 }).toEqual([before, before]);
  const committed = [...before];
  const commits: (() => Promise<void>)[] = [];
  for (const measurement of late) {
    commits.push(await beginCancel(measurement));
    committed.push(...(await succeed()));
  }
  for (const commit of commits.reverse()) {
    await sleep(HELD_MS);
    // The oldest transaction commits last. Until then, readers must not see the changes of transactions that began
    // later.
    expect(lines()).toEqual([before, before]);
    await commit();
    committed.push(...(await succeed()));
  }
  const whole = committed.length + LATE;
  await expect.poll(() => lines().map(({ length }) => length), { timeout: 20_000 }).toEqual([whole, whole]);
  await pages.stop();

  const rows = await exchange.database.query(
    `SELECT name || ' ' || version AS line FROM changes WHERE party = $1 AND kind = 'MEASUREMENT' ORDER BY xid, seq`,
    [acme.name],
  );
  const log = rows.slice(-whole).map(({ line }) => line);
  expect(lines()).toEqual([log, log]);
  expect([...log].sort()).toEqual([...committed, ...late.map(({ name }) => `${name} 2`)].sort());
  // The late changes appear in the order in which their transactions began. Each one comes before the changes that were
  // committed after its transaction began.
  expect(late.map(({ name }) => log.indexOf(`${name} 2`))).toEqual([3, 7, 11]);
  const stale = await exchange.call(
    acme.token,
    'GET',
    `/v2alpha/${acme.name}/changes?${MEASUREMENTS}&pageToken=${stream.lastId}`,
  );
  expect(stale.json.changes).toEqual([]);
});
