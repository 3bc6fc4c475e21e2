/**
 * Tests that a duchy process with the wrong database waits instead of computing. The database is a second one or an old
 * copy, so its keys or uploads do not match the state of the computation at the exchange.
 */
import { createDuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Herald } from '../../src/herald/herald.ts';
import { Mill } from '../../src/mills/mill.ts';
import { openResult, reachOf } from './results.ts';
import { people, uploadAll } from './uploads.ts';
import { type DuchyWorld, MILL, startDuchyWorld } from './world.ts';

const AUDIENCES = [people(1, 300), people(201, 400), people(1001, 1010)];

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld();
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

test('of two databases of one duchy, the one whose key was published computes, and the other one waits', async () => {
  const { duchy } = world.of('FIRST_WORKER');
  const other = await createDuchyDatabase();
  const fork = { ...duchy, db: other.db };
  const measurement = await world.ask();
  await new Herald(fork).once();
  await world.turn();
  const mill = new Mill(fork, MILL);
  await mill.once();
  await uploadAll(world, measurement, AUDIENCES);
  await mill.once();
  expect(await other.query('SELECT stage, last_error FROM computations')).toEqual([
    { stage: 'INITIALIZED', last_error: expect.stringMatching(/DATABASE_DIFFERS at publicKey: /) },
  ]);
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
  expect(reachOf(await openResult(world, measurement))).toBe(410);
  await new Herald(fork).once();
  expect(await other.query('SELECT outcome FROM computations')).toEqual([{ outcome: 'SUCCEEDED' }]);
  await other.drop();
});

test('an old database copy that lacks an acknowledged upload waits, and reports DATABASE_DIFFERS', async () => {
  const measurement = await world.ask();
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES);
  const takers = ['FIRST_WORKER', 'SECOND_WORKER'] as const;
  for (const role of takers) {
    await world.of(role).query(
      `SET session_replication_role = replica;
       DELETE FROM uploads WHERE computation = (SELECT id FROM computations WHERE outcome IS NULL);
       SET session_replication_role = origin`,
    );
  }
  await world.turn();
  // Check both workers, because random IDs decide which worker received an upload.
  const errors = await Promise.all(
    takers.map((role) => world.of(role).query('SELECT last_error FROM computations WHERE outcome IS NULL')),
  );
  expect(errors.flat()).toContainEqual({
    last_error: expect.stringMatching(/DATABASE_DIFFERS at dataProviders\/\w+\/requisitions\//),
  });
  await world.acme.client.cancelMeasurement({ name: measurement.name! });
  expect((await world.finish(measurement)).state).toBe('CANCELLED');
});
