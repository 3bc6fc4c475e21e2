/**
 * Tests the explanation of a computation in which one duchy is down. The explanation must name only this duchy, the
 * step that it has not done, and the time since which the step has been missing.
 */
import {
  act,
  all,
  type ComputationWorld,
  computationOf,
  type Duchies,
  type Duchy,
  parametersOf,
  readComputation,
  reportFulfilled,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { ringParametersOf, useRing } from '@measurement-exchange/testkit/ring';
import { get, ok } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import { type ExpectedWait, type Json, REMEDY, REPORT, useExplained } from './world.ts';

type Role = keyof Duchies;
/**
 * Times in hours after the creation of the measurement: when the explanation is requested, and when the duchy that is
 * down was last seen. The duchy counts as down, because it was last seen more than ten minutes before the request.
 */
const [ASKED_HOURS, DOWN_HOURS] = [0.5, 0.1];

interface Stuck {
  measurement: Json;
  down: Duchy;
  since: string;
  /**
   * The pattern that matches the text about the missing step. In an explanation, this text follows the duchy's name.
   */
  owes: string;
}

function useStages(world: ComputationWorld) {
  const explained = useExplained(world);
  const { exchange } = world;

  /** Checks that the consumer and the other duchies are told about the duchy that is down, and about no other party. */
  async function checkDown({ measurement, down, since, owes }: Stuck): Promise<void> {
    const resource = computationOf(down, measurement);
    const waits = [
      { party: down.name, resource, code: 'OFFLINE' as const, since, remedy: REMEDY.start(down) },
    ];
    const arranged = (name: string, words: string) => ({
      hours: ASKED_HOURS,
      arrange: async () => {
        explained.seen(down, DOWN_HOURS);
        return {
          name,
          waits,
          says: new RegExp(`^${down.name} ${words}, and was last seen 24 min ago, on \\S+ \\S+ UTC\\.\n$`),
        };
      },
    });
    await explained.check(arranged(measurement.name, owes));
    for (const other of all(world.duchies).filter(({ name }) => name !== down.name)) {
      // Only the consumer sees the last message of the duchy that is down. The explanation for the other duchies omits
      // the message.
      await explained.check(arranged(computationOf(other, measurement), owes.replace(/ \\\(.*/, '')));
    }
    explained.seen(down, -1);
    const [early] = (await explained.explain(measurement.name, ASKED_HOURS)).waitingFor;
    expect(early).toMatchObject({ ...waits[0], code: 'NOT_SEEN' });
  }

  return {
    ...explained,
    checkDown,
    /** Creates a computation, reports the steps before number `at` as done, and reports step `at` as begun. */
    async atStep(steps: [Role, string][], at: number): Promise<Stuck> {
      const measurement = await world.createComputing();
      for (const [role, stage] of steps.slice(0, at)) {
        await explained.log(world.duchies[role], measurement, { stage, progress: 1 });
      }
      const [role, stage] = steps[at]!;
      const down = world.duchies[role];
      const since = await explained.log(down, measurement, { stage });
      return { measurement, down, since, owes: `computes ${stage}, attempt 1 \\(“${REPORT}”\\)` };
    },
    /** Creates a computation in which no duchy has reported a step yet. */
    async beforeSteps(role: Role): Promise<Stuck> {
      const measurement = await world.createComputing();
      const { updateTime: since } = await readComputation(exchange, world.duchies[role], measurement);
      const owes = 'has to compute its first stage, and reported nothing yet';
      return { measurement, down: world.duchies[role], since, owes };
    },
  };
}

describe('the explanation of share-shuffle with an offline duchy', () => {
  const world = useComputations({ rate: UNLIMITED });
  const { exchange } = world;
  const { atStep, beforeSteps, check, checkDown, log, own, ready, seen } = useStages(world);

  it.each(['firstWorker', 'secondWorker', 'aggregator'] as const)(
    'names the %s if it has not set its parameters',
    async (role) => {
      const measurement = await world.create();
      const down = world.duchies[role];
      for (const duchy of all(world.duchies).filter((other) => other !== down)) {
        const { certificate } = duchy;
        const body = duchy === world.duchies.aggregator ? { certificate } : parametersOf(duchy);
        await ok(act(exchange, duchy, measurement, 'setParameters', body));
      }
      await checkDown({
        measurement,
        down,
        since: measurement.createTime,
        owes: 'has not set its parameters',
      });
    },
  );

  it.each([0, 1])('names the worker that receives the data of provider %i', async (i) => {
    const measurement = await ready();
    await ok(reportFulfilled(exchange, world.duchies, measurement, 1 - i));
    const provider = exchange.dev.dataProviders[i]!;
    const { fulfillingDuchy } = (await readComputation(exchange, world.duchies.aggregator, measurement))
      .requisitions[i];
    const down = all(world.duchies).find(({ name }) => name === fulfillingDuchy)!;
    const { updateTime: since } = await own(measurement, provider);
    await checkDown({ measurement, down, since, owes: `takes the data of ${provider.name}` });
  });

  it('names the firstWorker before its first report', async () =>
    checkDown(await beforeSteps('firstWorker')));

  it('names the secondWorker first if the firstWorker cannot send to it', async () => {
    const measurement = await world.createComputing();
    const { firstWorker, secondWorker } = world.duchies;
    const begun = await log(firstWorker, measurement, { stage: 'SETUP_PHASE' });
    const { updateTime } = await readComputation(exchange, secondWorker, measurement);
    const waitFor = (duchy: Duchy) => ({ party: duchy.name, resource: computationOf(duchy, measurement) });
    const waits: ExpectedWait[] = [
      { ...waitFor(secondWorker), code: 'OFFLINE', since: updateTime, remedy: REMEDY.start(secondWorker) },
      { ...waitFor(firstWorker), code: 'STAGE_RUNNING', since: begun, remedy: REMEDY.byItself(firstWorker) },
    ];
    const arrange = async () => {
      seen(secondWorker, DOWN_HOURS);
      return {
        name: measurement.name,
        waits,
        says: /^duchies\/worker2 has stages left .* last seen 24 min ago/,
      };
    };
    await check({ hours: ASKED_HOURS, arrange });
  });

  const STEPS: [Role, string][] = [
    ['firstWorker', 'SETUP_PHASE'],
    ['secondWorker', 'SETUP_PHASE'],
    ['firstWorker', 'SHUFFLE_PHASE'],
    ['secondWorker', 'SHUFFLE_PHASE'],
    ['aggregator', 'AGGREGATION_PHASE'],
  ];
  it.each(STEPS.map((step, i) => [...step, i] as const))('names the %s in its %s', async (role, stage, i) => {
    // Both workers shuffle at the same time. To make only the first worker late, report the second worker's shuffle as
    // done.
    const isFirst = role === 'firstWorker' && stage === 'SHUFFLE_PHASE';
    const steps = isFirst ? [...STEPS.slice(0, 2), STEPS[3]!, STEPS[2]!] : STEPS;
    await checkDown(await atStep(steps, isFirst ? 3 : i));
  });
});

describe('the explanation of a ring of sketches with an offline duchy', () => {
  const world = useRing({ rate: UNLIMITED });
  const { exchange } = world;
  const { atStep, checkDown } = useStages(world);

  it('names the aggregator if it has not set its keys', async () => {
    const measurement = await world.create();
    const { aggregator, firstWorker, secondWorker } = world.duchies;
    for (const worker of [firstWorker, secondWorker]) {
      await ok(act(exchange, worker, measurement, 'setParameters', ringParametersOf(worker).body));
    }
    const since = measurement.createTime;
    await checkDown({ measurement, down: aggregator, since, owes: 'has not set its parameters' });
  });

  it.each(['firstWorker', 'secondWorker', 'aggregator'] as const)(
    'names the %s if it has not confirmed',
    async (role) => {
      const measurement = (await world.createFulfilled()) as Json;
      const { updateTime: since } = await get(exchange, world.acme, measurement.name);
      const down = world.duchies[role];
      for (const duchy of all(world.duchies).filter((other) => other !== down)) {
        await ok(act(exchange, duchy, measurement, 'confirm', {}));
      }
      await checkDown({ measurement, down, since, owes: 'has not confirmed that it has all data' });
    },
  );

  // In the setup phase, both workers compute at the same time, and the aggregator follows. In the execution phase, the
  // duchies compute one after another in the order of the ring: second worker, first worker, aggregator.
  const STEPS: [Role, string][] = [
    ['firstWorker', 'SETUP_PHASE'],
    ['secondWorker', 'SETUP_PHASE'],
    ['aggregator', 'SETUP_PHASE'],
    ['secondWorker', 'EXECUTION_PHASE'],
    ['firstWorker', 'EXECUTION_PHASE'],
    ['aggregator', 'EXECUTION_PHASE'],
  ];
  it.each(STEPS.slice(1).map((step, i) => [...step, i + 1] as const))(
    'names the %s in its %s',
    async (_role, _stage, i) => checkDown(await atStep(STEPS, i)),
  );
});
