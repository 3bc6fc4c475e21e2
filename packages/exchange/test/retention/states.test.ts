/**
 * Tests which measurements the retention job ends, which it removes, and which it keeps. Covers each state, at the
 * exact age limit and a microsecond past it.
 */
import { MEASUREMENT_STATES, type MeasurementState } from '@measurement-exchange/contract';
import { loadMeasurements, makeComputing } from '@measurement-exchange/testkit/bulk';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, createMeasurement } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database as Sql } from '../../src/database/db.ts';
import { lockMeasurements } from '../../src/database/measurements.ts';
import { expiredMeasurements } from '../../src/database/retention.ts';
import { applyRetention } from '../../src/jobs/retention.ts';

const KINDS: Record<MeasurementState, 'pending' | 'terminal'> = {
  AWAITING_REQUISITION_FULFILLMENT: 'pending',
  COMPUTING: 'pending',
  SUCCEEDED: 'terminal',
  FAILED: 'terminal',
  CANCELLED: 'terminal',
};
const ALL = 1000;

const exchange = useExchange();
let db: Sql;
/** The ID of one measurement in each state. */
let ids: Record<MeasurementState, string>;

beforeAll(async () => {
  const { acme, streamly } = castOf(exchange);
  const { database, dev } = exchange;
  db = new Sql({ connection: { connectionString: database.url }, applicationName: 'test' });
  await loadMeasurements(database, { consumer: acme, providers: dev.dataProviders, count: 110 });
  const { name } = await createMeasurement(exchange, acme, [streamly]);
  await makeComputing(database, name.split('/').at(-1));
  const rows = await database.query('SELECT DISTINCT ON (state) state, id FROM measurements');
  ids = Object.fromEntries(rows.map(({ state, id }) => [state, id])) as typeof ids;
  expect(Object.keys(ids).sort()).toEqual([...MEASUREMENT_STATES].sort());
});
afterAll(() => db.close());

/** Returns the time from which the age of a measurement counts, and the time a microsecond later. */
async function agesOf(state: MeasurementState): Promise<{ exact: string; later: string }> {
  const from = KINDS[state] === 'pending' ? 'create_time' : 'update_time';
  const [row] = await exchange.database.query(
    `SELECT to_json(${from} AT TIME ZONE 'UTC') #>> '{}' || 'Z' AS exact,
            to_json((${from} + interval '1 microsecond') AT TIME ZONE 'UTC') #>> '{}' || 'Z' AS later
       FROM measurements WHERE id = $1`,
    [ids[state]],
  );
  return row as { exact: string; later: string };
}

describe.each(MEASUREMENT_STATES)('a measurement in state %s', (state) => {
  const kind = KINDS[state];
  const other = kind === 'pending' ? 'terminal' : 'pending';

  it('is found a microsecond past the age limit, but not at the exact limit', async () => {
    const { exact, later } = await agesOf(state);
    expect(await expiredMeasurements[kind].find(db, exact, ALL)).not.toContain(ids[state]);
    expect(await expiredMeasurements[kind].find(db, later, ALL)).toContain(ids[state]);
    expect(await expiredMeasurements[kind].count(db, later)).toBe(
      (await expiredMeasurements[kind].find(db, later, ALL)).length,
    );
    expect(await expiredMeasurements[other].find(db, '2100-01-01T00:00:00Z', ALL)).not.toContain(ids[state]);
  });

  it(`is ${kind === 'pending' ? 'locked for cancellation' : 'not locked for cancellation'}`, async () => {
    const locked = await db.tx('test', (tx) => lockMeasurements(tx, Object.values(ids)));
    expect(locked.some(({ measurement }) => measurement.id === ids[state])).toBe(kind === 'pending');
  });

  it(`is ${kind === 'pending' ? 'kept' : 'removed'} by remove_measurements`, async () => {
    const removed = await exchange.database.query('SELECT remove_measurements(ARRAY[$1], now()) AS n', [
      ids[state],
    ]);
    expect(removed).toEqual([{ n: kind === 'pending' ? 0 : 1 }]);
    const there = await exchange.database.query('SELECT state FROM measurements WHERE id = $1', [ids[state]]);
    expect(there).toEqual(kind === 'pending' ? [{ state }] : []);
  });
});

it('removeTerminalAfterDays removes only ended measurements, and cancelPendingAfterDays cancels all pending ones', async () => {
  const clock = () => '2100-01-01T00:00:00.000000Z';
  const count = async (state: string) =>
    (await exchange.database.query('SELECT 1 FROM measurements WHERE state LIKE $1', [state])).length;
  const pending = (await count('AWAITING%')) + (await count('COMPUTING'));
  expect(pending).toBeGreaterThan(10);
  while (await applyRetention({ db, clock }, { removeTerminalAfterDays: 9 }));
  expect([await count('%'), await count('SUCCEEDED')]).toEqual([pending, 0]);
  while (await applyRetention({ db, clock }, { cancelPendingAfterDays: 9 }));
  expect(await count('CANCELLED')).toBe(pending);
});
