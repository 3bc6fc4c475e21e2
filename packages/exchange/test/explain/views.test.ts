/**
 * Tests how the exchange explains waiting requisitions to providers, and waiting computations to duchies. An
 * explanation must contain only facts that the party can also read elsewhere.
 */
import type { Explanation } from '@measurement-exchange/contract';
import { act, computationOf, resultOf, useComputations } from '@measurement-exchange/testkit/computations';
import { UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { ok, refuse } from '@measurement-exchange/testkit/steps';
import { afterEach, describe, expect, it } from 'vitest';
import { shortTime } from '../../src/domain/explain/facts.ts';
import { type Json, REMEDY, REPORT, type Situation, useExplained, WORDS } from './world.ts';

const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const { check, defer, direct, log, own, ready } = useExplained(world);
afterEach(async () => {
  await ok(asOperator(exchange, 'POST', `${world.duchies.aggregator.name}:resume`));
});

const DO_IT = 'Fulfill it, refuse it, or defer it with a reason (mex provider run does this).';
/**
 * Returns the expected wait for streamly, which has not fulfilled this requisition. The default remedy is the text that
 * streamly itself gets.
 */
const ownWait = (
  { name, updateTime }: Json,
  code: 'ASKED' | 'UPLOAD_MISSING' | 'DEFERRED',
  remedy = DO_IT,
) => ({
  party: world.streamly.name,
  resource: name,
  code,
  since: updateTime,
  remedy,
});
const roles = () => [world.duchies.aggregator, world.duchies.firstWorker, world.duchies.secondWorker];

const PROVIDER: Record<string, Situation> = {
  'the fulfillment by the provider': {
    arrange: async () => {
      const requisition = await own(await direct());
      return { name: requisition.name, waits: [ownWait(requisition, 'ASKED')], says: /neither fulfilled/ };
    },
  },
  'the upload by the provider': {
    arrange: async () => {
      const requisition = await own(await ready());
      return {
        name: requisition.name,
        waits: [ownWait(requisition, 'UPLOAD_MISSING')],
        says: /has not sent its data/,
      };
    },
  },
  'the parameters of the duchies': {
    arrange: async () => {
      const { name, createTime: since } = await own(await world.create());
      const waits = roles().map((duchy) => ({
        ...{ party: duchy.name, resource: undefined, code: 'PARAMETERS_MISSING' as const },
        ...{ since, remedy: REMEDY.byItself(duchy) },
      }));
      return { name, waits, says: /has not set its parameters/ };
    },
  },
  'the end of a deferral by the provider': {
    arrange: async () => {
      const requisition = await defer(await direct());
      const remedy = 'Fulfill it once what it waits for is there, or defer it again.';
      const waits = [ownWait(requisition, 'DEFERRED', remedy)];
      return { name: requisition.name, waits, says: new RegExp(WORDS) };
    },
  },
  'nothing, because another provider refused': {
    arrange: async () => {
      const measurement = await ready();
      await ok(refuse(exchange, world.chirper, await own(measurement, world.chirper)));
      const remedy = 'Nothing is left to do: its data is not wanted any more.';
      return {
        name: (await own(measurement)).name,
        ending: { code: 'WITHDRAWN', remedy },
        says: /is FAILED/,
      };
    },
  },
  'nothing, because the provider refused': {
    arrange: async () => {
      const { name } = await ok(refuse(exchange, world.streamly, await own(await direct())));
      const remedy = 'Nothing is left to do; the consumer may create another measurement.';
      return {
        name,
        ending: { code: 'REFUSED', remedy },
        says: /You refused it: DECLINED \(“not this quarter”\)/,
      };
    },
  },
  'nothing, because it is fulfilled': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await log(world.duchies.firstWorker, measurement, { stage: 'SETUP_PHASE', attempt: 4 });
      const { name } = await own(measurement);
      return { name, ending: { code: 'FULFILLED', remedy: REMEDY.none }, says: /is COMPUTING/ };
    },
  },
};

/** Returns the name under which the second worker sees the computation of a measurement. */
const asked = (measurement: Json) => computationOf(world.duchies.secondWorker, measurement);
const parameters = (measurement: Json) =>
  roles().map((duchy) => ({
    ...{
      party: duchy.name,
      resource: computationOf(duchy, measurement),
      code: 'PARAMETERS_MISSING' as const,
    },
    ...{ since: measurement.createTime, remedy: REMEDY.byItself(duchy) },
  }));

const DUCHY: Record<string, Situation> = {
  'the parameters of all duchies': {
    arrange: async () => {
      const measurement = await world.create();
      return { name: asked(measurement), waits: parameters(measurement), says: /has not set its parameters/ };
    },
  },
  'a suspended duchy': {
    arrange: async () => {
      const measurement = await world.create();
      const { aggregator } = world.duchies;
      await ok(asOperator(exchange, 'POST', `${aggregator.name}:suspend`));
      const waits = parameters(measurement).map((wait) =>
        wait.party === aggregator.name
          ? { ...wait, code: 'SUSPENDED' as const, remedy: REMEDY.resume }
          : wait,
      );
      return { name: asked(measurement), waits, says: /duchies\/aggregator .*is suspended/ };
    },
  },
  'a provider that deferred': {
    arrange: async () => {
      const measurement = await ready();
      const { deferral, ...requisition } = await defer(measurement);
      const until = shortTime(deferral.until);
      const waits = [
        ownWait(
          requisition as Json,
          'DEFERRED',
          `Nothing before ${until}; if that is too late, talk to ${world.streamly.name} or cancel the measurement.`,
        ),
        {
          ...ownWait(await own(measurement, world.chirper), 'UPLOAD_MISSING', REMEDY.wait),
          party: world.chirper.name,
        },
      ];
      return { name: asked(measurement), waits, says: new RegExp(`deferred .* until ${until}\n`) };
    },
  },
  'a stage of another duchy that fails repeatedly': {
    arrange: async () => {
      const measurement = await world.createComputing();
      const { firstWorker: duchy } = world.duchies;
      const since = await log(duchy, measurement, { stage: 'SETUP_PHASE', attempt: 4 });
      const resource = computationOf(duchy, measurement);
      const [party, remedy] = [duchy.name, REMEDY.mend(duchy)];
      const waits = [{ party, resource, code: 'STAGE_FAILING' as const, since, remedy }];
      return { name: asked(measurement), waits, says: /SETUP_PHASE, attempt 4, and/ };
    },
  },
  'nothing, because the result is set': {
    arrange: async () => {
      const measurement = await world.createComputing();
      const { aggregator } = world.duchies;
      await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
      return {
        name: asked(measurement),
        ending: { code: 'SUCCEEDED', remedy: REMEDY.none },
        says: /result is set/,
      };
    },
  },
};

/**
 * Requires that an explanation for one party contains none of the secrets. The secrets are texts of other parties, and
 * names that the party must not see.
 */
function requireNothingOf(explanation: Explanation, secrets: string[]): void {
  const text = JSON.stringify(explanation);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
}

describe('the explanation of a requisition for its provider', () => {
  it.each(Object.entries(PROVIDER))(
    'reports waiting for %s, and no secrets of other parties',
    async (_title, situation) => {
      requireNothingOf(await check(situation), [world.chirper.name, REPORT, '/computations/']);
    },
  );
});

describe('the explanation of a computation for a duchy', () => {
  it.each(Object.entries(DUCHY))(
    'reports waiting for %s, and no secrets of other parties',
    async (_title, situation) => {
      requireNothingOf(await check(situation), [WORDS, REPORT, '/measurements/']);
    },
  );
});
