/** What a ring of duchies waits for once all data is there. */
import { act, all, computationOf, reportFulfilled } from '@measurement-exchange/testkit/computations';
import { UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { setAllKeys, useRing } from '@measurement-exchange/testkit/ring';
import { ok } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { useAsking } from './asking.ts';

const world = useRing({ rate: UNLIMITED });
const { exchange } = world;
const deadlines = { ...loadConfig({}).computations, cancelPendingAfterDays: undefined };
const { explain, seen } = useAsking(exchange, deadlines);

it('waits for each duchy that has not confirmed, whether it is there or down', async () => {
  const { firstWorker, secondWorker, aggregator } = world.duchies;
  const measurement = await world.create(2);
  await setAllKeys(exchange, world.duchies, measurement);
  for (const i of [0, 1]) await ok(reportFulfilled(exchange, world.duchies, measurement, i));
  await ok(act(exchange, aggregator, measurement, 'confirm', {}));
  for (const duchy of all(world.duchies)) await seen(duchy, 0);
  await seen(secondWorker, -2);

  const waits = [
    { party: firstWorker.name, code: 'CONFIRMATION_MISSING' },
    { party: secondWorker.name, code: 'NOT_SEEN' },
  ];
  const byConsumer = await explain(measurement.name);
  expect(byConsumer.state).toBe('COMPUTING');
  const byDuchy = await explain(computationOf(aggregator, measurement));
  expect(byDuchy.state).toBe('PENDING_CONFIRMATION');
  for (const { waitingFor, nextDeadline } of [byConsumer, byDuchy]) {
    expect(waitingFor.map(({ party, code }) => ({ party, code }))).toEqual(waits);
    expect(waitingFor[1]!.detail).toMatch(/has not confirmed .* not seen since/);
    expect(Date.parse(nextDeadline!) - Date.now()).toBeLessThanOrEqual(3600_000);
  }
});
