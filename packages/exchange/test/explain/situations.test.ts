/** What :explain says in each situation, and to whom. */
import type { Explanation } from '@measurement-exchange/contract';
import {
  act,
  all,
  computationOf,
  type Duchy,
  parametersOf,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import {
  type DevParty,
  measurementRequest,
  type Reply,
  UNLIMITED,
} from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { useReplica } from '@measurement-exchange/testkit/replica';
import {
  addCertificate,
  createMeasurement,
  fulfill,
  ok,
  post,
  refuse,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { failOverdueComputations } from '../../src/jobs/computationDeadlines.ts';
import { applyRetention } from '../../src/jobs/retention.ts';
import { useAsking } from './asking.ts';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const { computations } = loadConfig({});
const ahead = useReplica(exchange);
const { explain, seen } = useAsking(exchange, { ...computations, cancelPendingAfterDays: undefined });
const WORDS = 'Our logs of March come on Thursday.';
const REPORT = 'out of memory at block 17';
const LATER = new Date(Date.now() + 3600_000).toISOString();

const direct = () => createMeasurement(exchange, world.acme, [world.streamly]);
const own = (measurement: Json, provider: DevParty = world.streamly) =>
  requisitionOf(exchange, provider, measurement);
const deferOwn = async (measurement: Json, until = LATER) =>
  ok(post(exchange, world.streamly, `${(await own(measurement)).name}:defer`, { reason: WORDS, until }));
const ready = async () => {
  const measurement = await world.create();
  await setAllParameters(exchange, world.duchies, measurement);
  return measurement;
};
const log = (duchy: Duchy, measurement: Json, stage: string, attempt: number, message = REPORT) =>
  ok(
    post(exchange, duchy as DevParty, `${computationOf(duchy, measurement)}:log`, {
      ...{ stage, attempt, message },
      progress: 0.5,
    }),
  );
/** A measurement of one provider, whose certificate is valid for so many hours. */
const withCertificate = async (id: string, hours: number, providers = [world.streamly]) => {
  const notAfter = new Date(Date.now() + hours * 3600_000).toISOString().replace('Z', '');
  const certificate = await addCertificate(exchange, world.streamly.name, id, { notAfter });
  const request = measurementRequest(world.acme, providers) as Json;
  request.dataProviders[world.streamly.name].dataProviderCertificate = certificate;
  return ok(post(exchange, world.acme, `${world.acme.name}/measurements`, request));
};

interface Situation {
  /** Makes it, and says what is asked about: a measurement, or the name of something else. */
  arrange: () => Promise<{ name: string }>;
  hours?: number;
  /** Of the first wait, with its party; of a risk; or of the ending. */
  wait?: [code: string, party: () => { name: string }];
  risk?: string;
  ending?: string;
  /** In the detail. */
  says?: RegExp;
}

const streamly = () => world.streamly;

const CONSUMER: Record<string, Situation> = {
  'a provider that is there and does nothing': { arrange: direct, wait: ['SILENT', streamly] },
  'a provider that went offline': {
    arrange: async () => {
      const measurement = await direct();
      await seen(world.streamly, 1);
      return measurement;
    },
    hours: 3,
    wait: ['OFFLINE', streamly],
    says: /last seen 2 h ago|last seen 120 min ago/,
  },
  'a provider that was not seen since the creation': {
    arrange: async () => {
      const measurement = await direct();
      await seen(world.streamly, -50);
      return measurement;
    },
    wait: ['NOT_SEEN', streamly],
    says: /not seen since it was created/,
  },
  'a provider that was never seen': {
    arrange: async () => {
      const measurement = await direct();
      await seen(world.streamly, null);
      return measurement;
    },
    wait: ['NOT_SEEN', streamly],
    says: /never seen/,
  },
  'a provider that deferred': {
    arrange: async () => {
      const measurement = await direct();
      await deferOwn(measurement);
      return measurement;
    },
    wait: ['DEFERRED', streamly],
    says: new RegExp(WORDS),
  },
  'a deferral that is over': {
    arrange: async () => {
      const measurement = await direct();
      await deferOwn(measurement);
      await seen(world.streamly, 2);
      return measurement;
    },
    hours: 2,
    wait: ['SILENT', streamly],
  },
  "a provider's certificate that expired": {
    arrange: () => withCertificate('short', 1),
    hours: 2,
    wait: ['CERTIFICATE_EXPIRED', streamly],
    says: /certificates\/short/,
  },
  "the consumer's own certificate that expired": {
    arrange: direct,
    hours: 24 * 366 * 30,
    wait: ['CERTIFICATE_EXPIRED', () => world.acme],
  },
  'a certificate that expires before the deadline': {
    arrange: async () => {
      const measurement = await withCertificate('days', 48, [world.streamly, world.chirper]);
      await setAllParameters(exchange, world.duchies, measurement);
      return measurement;
    },
    risk: 'CERTIFICATE_EXPIRES',
    says: /certificates\/days .*before the deadline/,
  },
  'a key that changed': {
    arrange: async () => {
      const measurement = await direct();
      await exchange.database.query(
        `UPDATE parties SET public_key = (SELECT public_key FROM parties WHERE name = $2) WHERE name = $1`,
        [world.streamly.name, world.chirper.name],
      );
      return measurement;
    },
    wait: ['KEY_CHANGED', streamly],
  },
  'a provider that is suspended': {
    arrange: async () => {
      const measurement = await direct();
      await ok(asOperator(exchange, 'POST', `${world.streamly.name}:suspend`));
      return measurement;
    },
    wait: ['SUSPENDED', streamly],
  },
  'a revocation whose cascade runs': {
    arrange: async () => {
      const measurement = await withCertificate('revoked', 48);
      await exchange.database.query(
        `UPDATE certificates SET revocation_state = 'REVOKED' WHERE id = 'revoked'`,
      );
      return measurement;
    },
    wait: ['REVOCATION_RUNNING', streamly],
    says: /certificates\/revoked/,
  },
  'parameters that are missing': {
    arrange: async () => {
      const measurement = await world.create();
      const { firstWorker, aggregator } = world.duchies;
      await ok(act(exchange, firstWorker, measurement, 'setParameters', parametersOf(firstWorker)));
      await ok(
        act(exchange, aggregator, measurement, 'setParameters', { certificate: aggregator.certificate }),
      );
      return measurement;
    },
    wait: ['PARAMETERS_MISSING', () => world.duchies.secondWorker],
  },
  'a duchy that is down before it sets its parameters': {
    arrange: async () => {
      const measurement = await world.create();
      await seen(world.duchies.aggregator, -1);
      return measurement;
    },
    wait: ['NOT_SEEN', () => world.duchies.aggregator],
    says: /has not set its parameters/,
  },
  'a duchy that is suspended, which a consumer cannot read': {
    arrange: async () => {
      const measurement = await world.create();
      await exchange.database.query(`UPDATE parties SET state = 'SUSPENDED' WHERE name = $1`, [
        world.duchies.aggregator.name,
      ]);
      return measurement;
    },
    wait: ['PARAMETERS_MISSING', () => world.duchies.aggregator],
  },
  'an upload that is missing': { arrange: ready, wait: ['UPLOAD_MISSING', streamly] },
  'a duchy that is down and takes the data': {
    arrange: async () => {
      const measurement = await ready();
      for (const worker of [world.duchies.firstWorker, world.duchies.secondWorker]) await seen(worker, 1);
      return measurement;
    },
    hours: 3,
    says: /takes the data of .*last seen/,
  },
  'a stage that runs': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await log(world.duchies.firstWorker, measurement, 'SETUP_PHASE', 1);
      return measurement;
    },
    wait: ['STAGE_RUNNING', () => world.duchies.firstWorker],
    says: /SETUP_PHASE, attempt 1/,
  },
  'a duchy that is down while it computes': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await log(world.duchies.firstWorker, measurement, 'SETUP_PHASE', 1);
      await seen(world.duchies.firstWorker, 0.1);
      return measurement;
    },
    hours: 5,
    wait: ['OFFLINE', () => world.duchies.firstWorker],
    says: /SETUP_PHASE/,
  },
  'a duchy that is down before its first stage': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await seen(world.duchies.firstWorker, 0.1);
      return measurement;
    },
    hours: 5,
    wait: ['OFFLINE', () => world.duchies.firstWorker],
    says: /reported nothing yet/,
  },
  'a stage that fails again and again': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await log(world.duchies.firstWorker, measurement, 'SETUP_PHASE', 4);
      return measurement;
    },
    wait: ['STAGE_FAILING', () => world.duchies.firstWorker],
    says: new RegExp(`attempt 4.*${REPORT}`),
  },
  'a deadline that is near': { arrange: ready, hours: 13 * 24, risk: 'DEADLINE_NEAR' },
  'a deferral past the deadline': {
    arrange: async () => {
      const measurement = await ready();
      await deferOwn(measurement, new Date(Date.now() + 20 * 24 * 3600_000).toISOString());
      return measurement;
    },
    risk: 'DEFERRED_PAST_DEADLINE',
  },
  'a refusal': {
    arrange: async () => {
      const measurement = await direct();
      await ok(refuse(exchange, world.streamly, await own(measurement)));
      return measurement;
    },
    ending: 'REFUSED',
    says: /DECLINED: not this quarter/,
  },
  'a cancellation': {
    arrange: async () => {
      const measurement = await direct();
      return ok(post(exchange, world.acme, `${measurement.name}:cancel`));
    },
    ending: 'CANCELLED',
  },
  'a measurement that was pending for too long': {
    arrange: async () => {
      const measurement = await direct();
      await applyRetention(ahead(24 * 50), { cancelPendingAfterDays: 40 });
      return measurement;
    },
    ending: 'PENDING_TOO_LONG',
  },
  'a duchy that gave up': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await ok(act(exchange, world.duchies.firstWorker, measurement, 'fail', { message: 'disk is gone' }));
      return measurement;
    },
    ending: 'DUCHY_GAVE_UP',
    says: /disk is gone/,
  },
  'a deadline that was missed': {
    arrange: async () => {
      const measurement = await world.create();
      while (await failOverdueComputations(ahead(2), computations));
      return measurement;
    },
    ending: 'DEADLINE_MISSED',
    says: /set no parameters within 1 h/,
  },
  'a certificate that was revoked': {
    arrange: async () => {
      const measurement = await withCertificate('gone', 48);
      const name = `${world.streamly.name}/certificates/gone`;
      await ok(post(exchange, world.streamly, `${name}:revoke`, { revocationState: 'REVOKED' }));
      await expect
        .poll(async () => (await explain(measurement.name)).state, { timeout: 5000 })
        .toBe('FAILED');
      return measurement;
    },
    ending: 'CERTIFICATE_REVOKED',
  },
  'a success': {
    arrange: async () => {
      const measurement = await direct();
      await ok(fulfill(exchange, world.streamly, await own(measurement), 1n));
      return measurement;
    },
    ending: 'SUCCEEDED',
  },
};

const PROVIDER: Record<string, Situation> = {
  'its own fulfillment': { arrange: async () => own(await direct()), wait: ['SILENT', streamly] },
  'its own upload': { arrange: async () => own(await ready()), wait: ['UPLOAD_MISSING', streamly] },
  'the parameters of duchies': {
    arrange: async () => own(await world.create()),
    wait: ['PARAMETERS_MISSING', () => world.duchies.aggregator],
  },
  'its own deferral': {
    arrange: async () => deferOwn(await direct()),
    wait: ['DEFERRED', streamly],
    says: new RegExp(WORDS),
  },
  'a measurement that another one refused': {
    arrange: async () => {
      const measurement = await ready();
      await ok(refuse(exchange, world.chirper, await own(measurement, world.chirper)));
      return own(measurement);
    },
    ending: 'WITHDRAWN',
    says: /FAILED/,
  },
  'its own refusal': {
    arrange: async () => {
      const measurement = await direct();
      return ok(refuse(exchange, world.streamly, await own(measurement)));
    },
    ending: 'REFUSED',
    says: /not this quarter/,
  },
  'a computation after its data is there': {
    arrange: async () => {
      const measurement = await world.createComputing();
      await log(world.duchies.firstWorker, measurement, 'SETUP_PHASE', 4);
      return own(measurement);
    },
    ending: 'FULFILLED',
    says: /COMPUTING/,
  },
};

const computation = async (measurement: Promise<Json>) => ({
  name: computationOf(world.duchies.secondWorker, await measurement),
});
const DUCHY: Record<string, Situation> = {
  'the parameters of all': {
    arrange: () => computation(world.create()),
    wait: ['PARAMETERS_MISSING', () => world.duchies.aggregator],
  },
  'a duchy that is suspended': {
    arrange: async () => {
      const found = await computation(world.create());
      await exchange.database.query(`UPDATE parties SET state = 'SUSPENDED' WHERE name = $1`, [
        world.duchies.aggregator.name,
      ]);
      return found;
    },
    wait: ['SUSPENDED', () => world.duchies.aggregator],
  },
  'a provider that deferred': {
    arrange: async () => {
      const measurement = await ready();
      await deferOwn(measurement);
      return computation(measurement);
    },
    wait: ['DEFERRED', streamly],
  },
  "another duchy's stage that fails again and again": {
    arrange: async () => {
      const measurement = await world.createComputing();
      await log(world.duchies.firstWorker, measurement, 'SETUP_PHASE', 4);
      return computation(measurement);
    },
    wait: ['STAGE_FAILING', () => world.duchies.firstWorker],
    says: /SETUP_PHASE, attempt 4/,
  },
  'a result that is set': {
    arrange: async () => {
      const measurement = await world.createComputing();
      const { aggregator } = world.duchies;
      await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
      return computation(measurement);
    },
    ending: 'SUCCEEDED',
  },
};

/** Who is there, and what is published, is the same before each of them. */
let keys: Record<string, unknown>[] | undefined;
beforeEach(async () => {
  const { database } = exchange;
  keys ??= await database.query('SELECT name, public_key FROM parties');
  for (const { name, public_key } of keys) {
    await database.query(`UPDATE parties SET state = 'ACTIVE', public_key = $2 WHERE name = $1`, [
      name,
      public_key,
    ]);
  }
});
afterAll(async () => {
  // Nothing in the exchange revoked it: what rests on it would be an ailment.
  await exchange.database.query(`UPDATE certificates SET revocation_state = NULL WHERE id = 'revoked'`);
});

const answers: { viewer: string; explanation: Explanation }[] = [];

async function check(viewer: string, { arrange, hours = 0, wait, risk, ending, says = /./ }: Situation) {
  for (const party of [...exchange.dev.dataProviders, ...all(world.duchies)]) await seen(party, hours);
  const { name } = await arrange();
  const explanation = await explain(name, hours);
  answers.push({ viewer, explanation });
  const { summary, waitingFor, risks } = explanation;
  expect(summary).toMatch(/^[^\n]+\S$/);
  expect(explanation.ending?.code).toBe(ending);
  if (ending !== undefined) {
    expect(waitingFor).toEqual([]);
    expect(explanation.ending!.remedy).not.toBe('');
    expect(explanation.ending!.detail).toMatch(says);
    return;
  }
  for (const { remedy, detail } of waitingFor) expect([remedy, detail]).not.toContain('');
  if (wait !== undefined) {
    expect([waitingFor[0]!.code, waitingFor[0]!.party]).toEqual([wait[0], wait[1]().name]);
  }
  expect(risks.map(({ code }) => code)).toEqual(
    risk === undefined ? expect.any(Array) : expect.arrayContaining([risk]),
  );
  const details = risk === undefined ? waitingFor : risks.filter(({ code }) => code === risk);
  expect(details.map(({ detail }) => detail).join('\n')).toMatch(says);
}

describe('a measurement says to its consumer that it waits for, or ended by', () => {
  for (const [title, situation] of Object.entries(CONSUMER)) it(title, () => check('consumer', situation));
});
describe('a requisition says to its provider that it waits for, or ended by', () => {
  for (const [title, situation] of Object.entries(PROVIDER)) it(title, () => check('provider', situation));
});
describe('a computation says to a duchy that it waits for, or ended by', () => {
  for (const [title, situation] of Object.entries(DUCHY)) it(title, () => check('duchy', situation));
});

it('tells nobody what they may not see', () => {
  const of = (viewer: string) =>
    answers.filter((a) => a.viewer === viewer).map((a) => JSON.stringify(a.explanation));
  expect(of('provider')).toHaveLength(Object.keys(PROVIDER).length);
  for (const text of of('provider')) {
    expect(text).not.toContain(world.chirper.name);
    expect(text).not.toContain(REPORT);
    expect(text).not.toContain('/computations/');
  }
  expect(of('duchy')).toHaveLength(Object.keys(DUCHY).length);
  for (const text of of('duchy')) {
    expect(text).not.toContain(WORDS);
    expect(text).not.toContain(REPORT);
    expect(text).not.toContain('/measurements/');
  }
  for (const text of of('consumer')) {
    expect(text).not.toContain(world.globex.name);
    expect(text).not.toMatch(/duchies\/\w+ [^"]*suspended/);
  }
});
