/** Tests leases: which mill works on which stage, and what happens to a mill that lost its lease. */
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Claim,
  claimStage,
  createComputation,
  endComputation,
  finishStage,
  LeaseLost,
  readComputation,
  renewLease,
  retryStage,
  wake,
} from '../../src/database/index.ts';
import { makeComputation } from '../view.ts';

const LEASE = { owner: 'mill', leaseMs: 60_000 };
const DUE = new Date(0);

let database: DuchyDatabase;
beforeAll(async () => {
  database = await createDuchyDatabase();
});
afterAll(() => database.drop());
let made = 0;
beforeEach(async () => {
  await database.query(
    'UPDATE computations SET run_after = NULL WHERE outcome IS NULL AND lease_token IS NULL',
  );
  await database.query(
    `UPDATE computations SET run_after = NULL, lease_token = NULL, lease_until = NULL, lease_owner = NULL
     WHERE outcome IS NULL`,
  );
});

async function computation(
  runAfter: Date | null = DUE,
  consumer = 'measurementConsumers/acme',
): Promise<string> {
  const id = `c${++made}`;
  const { view, spec } = await makeComputation(id, 'duchies/alpha');
  const about = {
    role: 'FIRST_WORKER',
    protocol: 'honestMajorityShareShuffle',
    stage: 'SETUP_PHASE',
  } as const;
  expect(
    await createComputation(database.db, {
      ...about,
      ...{ id, spec, registerCount: 10, runAfter },
      view: { ...view, measurementConsumer: consumer },
    }),
  ).toBe(true);
  return id;
}

async function claimed(): Promise<Claim> {
  const claim = await claimStage(database.db, LEASE);
  if (claim === undefined) throw new Error('nothing to claim');
  return claim;
}

const expire = (id: string) =>
  database.query("UPDATE computations SET lease_until = now() - interval '1 second' WHERE id = $1", [id]);

test('concurrent mills claim each due stage exactly once', async () => {
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await computation());
  const mills = [database.db, database.open(), database.open()];
  const claims = await Promise.all(
    Array.from({ length: 24 }, (_, i) => claimStage(mills[i % 3]!, { ...LEASE, owner: `mill ${i}` })),
  );
  const held = claims.filter((claim) => claim !== undefined);
  expect(held.map(({ computation: { id } }) => id).sort()).toEqual(ids.sort());
  expect(new Set(held.map(({ token }) => token)).size).toBe(5);
});

test('stages of different consumers take turns, even if one consumer has many due stages', async () => {
  const flood = [];
  for (let i = 0; i < 10; i++) flood.push(await computation());
  const take = async () => (await claimed()).computation.id;
  expect(await take()).toBe(flood[0]);
  const late = await computation(DUE, 'measurementConsumers/globex');
  const later = await computation(DUE, 'measurementConsumers/globex');
  expect([await take(), await take(), await take(), await take()]).toEqual([late, flood[1], later, flood[2]]);
  // Consumers take turns. A retry of a consumer's stage also uses that consumer's turn.
  await database.query('UPDATE computations SET lease_until = now(), run_after = $2 WHERE id = $1', [
    late,
    DUE,
  ]);
  const taken = [await take(), await take()];
  expect(taken).toEqual([late, flood[3]]);
});

test('claimStage returns the oldest due stage first, and skips stages that wait or are not due yet', async () => {
  const first = await computation();
  const second = await computation();
  await computation(null);
  await computation(new Date(Date.now() + 3_600_000));
  expect((await claimed()).computation.id).toBe(first);
  expect((await claimed()).computation.id).toBe(second);
  expect(await claimStage(database.db, LEASE)).toBeUndefined();
});

test('a retried stage is claimed after the other due stages', async () => {
  const first = await computation();
  const second = await computation();
  const claim = await claimed();
  expect(claim.computation.id).toBe(first);
  await retryStage(database.db, claim, {
    delayMs: 0,
    error: 'the other duchy does not respond',
    counts: false,
  });
  expect((await claimed()).computation.id).toBe(second);
  expect((await claimed()).computation.id).toBe(first);
});

test('after its lease expires, a stage is claimed as attempt 2, and the first mill can no longer change it', async () => {
  const id = await computation();
  const first = await claimed();
  expect(first.computation.attempt).toBe(1);
  expect(await claimStage(database.db, LEASE)).toBeUndefined();
  await expire(id);
  const second = await claimed();
  expect(second.computation).toMatchObject({ id, attempt: 2 });

  expect(await renewLease(database.db, first)).toBe(false);
  expect(await retryStage(database.db, first, { delayMs: 0, error: 'late' })).toBe(false);
  const next = { stage: 'NEXT', runAfter: null };
  await expect(database.db.tx('test', (tx) => finishStage(tx, first, next))).rejects.toThrow(LeaseLost);
  expect(await readComputation(database.db, id)).toMatchObject({ stage: 'SETUP_PHASE', lastError: null });

  await database.db.tx('test', (tx) => finishStage(tx, second, next));
  expect(await readComputation(database.db, id)).toMatchObject({ stage: 'NEXT', attempt: 0, runAfter: null });
});

test('a stage with a renewed lease cannot be claimed', async () => {
  const id = await computation();
  const claim = await claimed();
  await expire(id);
  expect(await renewLease(database.db, claim)).toBe(true);
  expect(await claimStage(database.db, LEASE)).toBeUndefined();
});

test('a lease expires after leaseMs, and cannot be renewed after another claim', async () => {
  await computation();
  const first = await claimStage(database.db, { ...LEASE, leaseMs: 1 });
  await expect.poll(() => claimStage(database.db, LEASE)).toBeDefined();
  expect(await renewLease(database.db, first!)).toBe(false);
});

test('the writes of a stage are rolled back if its lease is lost', async () => {
  const id = await computation();
  const claim = await claimed();
  await expire(id);
  await claimed();
  const stored = database.db.tx('test', async (tx) => {
    await tx.query({ name: 'test note', text: "INSERT INTO settings VALUES ('output', 'x')" }, []);
    await finishStage(tx, claim, { stage: 'NEXT', runAfter: null });
  });
  await expect(stored).rejects.toThrow(LeaseLost);
  expect(await database.query("SELECT * FROM settings WHERE key = 'output'")).toEqual([]);
});

test('retryStage delays a stage, and counts the attempt unless counts is false', async () => {
  const id = await computation();
  expect(
    await retryStage(database.db, await claimed(), { delayMs: 3_600_000, error: 'the peer is down' }),
  ).toBe(true);
  expect(await claimStage(database.db, LEASE)).toBeUndefined();
  expect(await readComputation(database.db, id)).toMatchObject({ attempt: 1, lastError: 'the peer is down' });
  await database.query('UPDATE computations SET run_after = now() WHERE id = $1', [id]);
  const again = await claimed();
  expect(again.computation.attempt).toBe(2);
  await retryStage(database.db, again, { delayMs: 0, error: 'waits', counts: false });
  expect((await claimed()).computation.attempt).toBe(2);
});

test('concurrent wakes move a waiting computation to its next stage once, and only from the expected stage', async () => {
  const id = await computation(null);
  expect(await wake(database.db, id, 'ANOTHER', 'SHUFFLE_PHASE')).toBe(false);
  const woken = await Promise.all([1, 2, 3].map(() => wake(database.db, id, 'SETUP_PHASE', 'SHUFFLE_PHASE')));
  expect(woken.filter(Boolean)).toHaveLength(1);
  expect((await claimed()).computation).toMatchObject({ id, stage: 'SHUFFLE_PHASE', attempt: 1 });
});

test('endComputation revokes the lease of the mill, and keeps the first outcome', async () => {
  const id = await computation();
  const claim = await claimed();
  expect(await endComputation(database.db, id, { outcome: 'FAILED', failure: 'a provider refused' })).toBe(
    true,
  );
  expect(await endComputation(database.db, id, { outcome: 'SUCCEEDED' })).toBe(false);
  expect(await renewLease(database.db, claim)).toBe(false);
  const finished = database.db.tx('test', (tx) => finishStage(tx, claim, { stage: 'NEXT', runAfter: DUE }));
  await expect(finished).rejects.toThrow(LeaseLost);
  expect(await claimStage(database.db, LEASE)).toBeUndefined();
  expect(await readComputation(database.db, id)).toMatchObject({
    outcome: 'FAILED',
    failure: 'a provider refused',
  });
});
