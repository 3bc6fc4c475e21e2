/**
 * Tests the explanation of a pending measurement for its consumer: which parties the measurement waits for, what each
 * party has not done, since when, and what the consumer can do.
 */
import { toBase64 } from '@measurement-exchange/contract';
import { createEncryptionKeysets, signEncryptionKey } from '@measurement-exchange/sdk/identity';
import {
  act,
  computationOf,
  parametersOf,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { get, ok, post } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { shortTime } from '../../src/domain/explain/facts.ts';
import {
  DEADLINES,
  inHours,
  type Json,
  REMEDY,
  REPORT,
  type Situation,
  useExplained,
  WORDS,
} from './world.ts';

const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const { check, defer, direct, explain, log, ofRequisition, ready, seen, withCertificate } =
  useExplained(world);

/** Steps that undo a situation, so that it does not affect the next one. */
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function suspend(name: string): Promise<void> {
  await ok(asOperator(exchange, 'POST', `${name}:suspend`));
  undo.push(() => ok(asOperator(exchange, 'POST', `${name}:resume`)));
}

/**
 * Returns a situation in which Streamly was last seen `hours` hours after the creation of the measurement. A negative
 * number means before the creation, and null means never. The explanation is requested `asked` hours after the
 * creation.
 */
const silent = (hours: number | null, code: 'OFFLINE' | 'NOT_SEEN', says: RegExp, asked = 0): Situation => ({
  hours: asked,
  arrange: async () => {
    const measurement = await direct();
    seen(world.streamly, hours);
    const waits = [await ofRequisition(measurement, world.streamly, code, REMEDY.start(world.streamly))];
    return { name: measurement.name, waits, says };
  },
});

/**
 * Returns the expected explanation of a measurement whose provider is online but has not responded. `ASKED` means that
 * the provider was asked just now. `SILENT` means that the provider is late.
 */
async function silentMeasurement(measurement: Json, code: 'ASKED' | 'SILENT' = 'SILENT') {
  const remedy = code === 'ASKED' ? REMEDY.wait : REMEDY.ask(world.streamly);
  const waits = [await ofRequisition(measurement, world.streamly, code, remedy)];
  return { name: measurement.name, waits, says: /has neither fulfilled nor refused nor deferred/ };
}

/** The expected waits for uploads that the providers have not sent to the duchies. */
async function uploads(measurement: Json, isLate = false) {
  const of = (provider: typeof world.streamly) =>
    ofRequisition(measurement, provider, 'UPLOAD_MISSING', isLate ? REMEDY.ask(provider) : REMEDY.wait);
  return [await of(world.streamly), await of(world.chirper)];
}

const deadlineOf = (measurement: Json, hours: number) =>
  new Date(Date.parse(measurement.createTime) + hours * 3600_000).toISOString().slice(0, -1);

const SITUATIONS: Record<string, Situation> = {
  'a provider that was asked just now': { arrange: async () => silentMeasurement(await direct(), 'ASKED') },
  'a provider that is online but does not respond': {
    hours: 0.2,
    arrange: async () => silentMeasurement(await direct()),
  },
  'a provider that went offline': silent(1, 'OFFLINE', /last seen 120 min ago|last seen 2 h ago/, 3),
  'a provider that was not seen since the creation': silent(
    -50,
    'NOT_SEEN',
    /not seen since the measurement was created/,
  ),
  'a provider that was never seen': silent(null, 'NOT_SEEN', /never seen/),
  'a provider that deferred': {
    arrange: async () => {
      const measurement = await direct();
      const { deferral } = await defer(measurement);
      const remedy = `Nothing before ${shortTime(deferral.until)}; if that is too late, talk to ${world.streamly.name} or cancel the measurement.`;
      const waits = [await ofRequisition(measurement, world.streamly, 'DEFERRED', remedy)];
      return {
        name: measurement.name,
        waits,
        says: new RegExp(`until ${shortTime(deferral.until)}: “${WORDS}”`),
      };
    },
  },
  'a deferral that has ended': {
    hours: 2,
    arrange: async () => {
      const measurement = await direct();
      await defer(measurement);
      return silentMeasurement(measurement);
    },
  },
  'an expired certificate of a provider': {
    hours: 2,
    arrange: async () => {
      const { measurement, certificate } = await withCertificate(1, [world.streamly]);
      const { name: party } = world.streamly;
      const [resource, since, remedy] = [
        certificate.name,
        certificate.notAfter,
        REMEDY.renew(world.streamly),
      ];
      const waits = [{ party, resource, code: 'CERTIFICATE_EXPIRED' as const, since, remedy }];
      return {
        name: measurement.name,
        waits,
        says: new RegExp(`${resource}, which it depends on, expired on`),
      };
    },
  },
  'an expired certificate of the consumer': {
    hours: 24 * 366 * 30,
    arrange: async () => {
      const { name } = await direct();
      const rest = [world.acme, world.streamly].map(async (party) => {
        const { notAfter: since } = await get(exchange, party, party.certificate);
        const remedy = REMEDY.renew(party);
        return {
          party: party.name,
          resource: party.certificate,
          code: 'CERTIFICATE_EXPIRED' as const,
          since,
          remedy,
        };
      });
      return {
        name,
        waits: await Promise.all(rest),
        says: new RegExp(`${world.acme.certificate}, .* expired`),
      };
    },
  },
  'a certificate that expires before the deadline': {
    arrange: async () => {
      const { measurement, certificate } = await withCertificate(0.5, [world.streamly, world.chirper]);
      const waits = duchiesWithout(measurement);
      const risks = [{ code: 'CERTIFICATE_EXPIRES', at: certificate.notAfter }];
      return {
        name: measurement.name,
        waits,
        risks,
        says: new RegExp(`${certificate.name} .*before the deadline`),
      };
    },
  },
  'a provider key that changed': {
    arrange: async () => {
      const measurement = await direct();
      const { name, token, privateKeyPem } = world.streamly;
      const { publicKey } = await get(exchange, world.streamly, name);
      const patch = (body: object) => ok(exchange.call(token, 'PATCH', `/v2alpha/${name}`, body));
      const keysets = await createEncryptionKeysets();
      const { message, signature, ...rest } = await signEncryptionKey(keysets.publicKeyset, privateKeyPem);
      await patch({ publicKey: { message: toBase64(message), signature: toBase64(signature), ...rest } });
      undo.push(() => patch({ publicKey }));
      const remedy =
        'If the provider no longer has the former key, cancel the measurement and create it again with the current one.';
      const waits = [await ofRequisition(measurement, world.streamly, 'KEY_CHANGED', remedy)];
      return { name: measurement.name, waits, says: /does not publish any more/ };
    },
  },
  'a suspended provider': {
    arrange: async () => {
      const measurement = await direct();
      const waits = [await ofRequisition(measurement, world.streamly, 'SUSPENDED', REMEDY.resume)];
      await suspend(world.streamly.name);
      return { name: measurement.name, waits, says: /is suspended: it can call nothing/ };
    },
  },
  'a revocation that is still running': {
    arrange: async () => {
      const { measurement, certificate } = await withCertificate(24 * 365, [world.streamly]);
      // Lock the measurement, so that the revocation cannot change the state of the measurement to FAILED yet.
      const holder = new pg.Client({ connectionString: exchange.database.url });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM measurements WHERE id = $1 FOR UPDATE', [
        measurement.name.split('/').at(-1),
      ]);
      undo.push(async () => {
        await holder.end();
        await expect
          .poll(async () => (await explain(measurement.name)).ending?.code)
          .toBe('CERTIFICATE_REVOKED');
      });
      await ok(post(exchange, world.streamly, `${certificate.name}:revoke`, { revocationState: 'REVOKED' }));
      const { name: party } = world.streamly;
      const remedy = 'It fails within seconds; measure again with another certificate.';
      const since = measurement.updateTime;
      const waits = [
        { party, resource: certificate.name, code: 'REVOCATION_RUNNING' as const, since, remedy },
      ];
      return { name: measurement.name, waits, says: new RegExp(`${certificate.name} is revoked`) };
    },
  },
  'missing parameters of duchies': {
    arrange: async () => {
      const measurement = await world.create();
      const { firstWorker } = world.duchies;
      await ok(act(exchange, firstWorker, measurement, 'setParameters', parametersOf(firstWorker)));
      const waits = duchiesWithout(measurement).filter(({ party }) => party !== firstWorker.name);
      return { name: measurement.name, waits, says: /worker2 has not set its parameters/ };
    },
  },
  'a suspended duchy, which the consumer cannot see': {
    arrange: async () => {
      const measurement = await world.create();
      await suspend(world.duchies.aggregator.name);
      return { name: measurement.name, waits: duchiesWithout(measurement), says: /^(?!.*suspended)/s };
    },
  },
  'a missing upload': {
    arrange: async () => {
      const measurement = await ready();
      return {
        name: measurement.name,
        waits: await uploads(measurement),
        says: /has not sent its data to duchies\//,
      };
    },
  },
  'a running stage': {
    arrange: async () => {
      const measurement = await world.createComputing();
      const since = await log(world.duchies.firstWorker, measurement, { stage: 'SETUP_PHASE' });
      return stage(measurement, since, 'STAGE_RUNNING', REMEDY.byItself, /computes SETUP_PHASE, attempt 1 /);
    },
  },
  'a stage that fails repeatedly': {
    arrange: async () => {
      const measurement = await world.createComputing();
      const since = await log(world.duchies.firstWorker, measurement, { stage: 'SETUP_PHASE', attempt: 4 });
      const says = new RegExp(`fails again and again in SETUP_PHASE, attempt 4 \\(“${REPORT}”\\)`);
      return stage(measurement, since, 'STAGE_FAILING', REMEDY.mend, says);
    },
  },
  'a deadline that is near': {
    hours: 13 * 24,
    arrange: async () => {
      const measurement = await ready();
      const at = `${deadlineOf(measurement, DEADLINES.fulfillWithinHours)}000Z`;
      const risks = [{ code: 'DEADLINE_NEAR', at }];
      return {
        name: measurement.name,
        waits: await uploads(measurement, true),
        risks,
        says: /It ends in 24 h, on \S+ \S+ UTC, unless/,
      };
    },
  },
  'a deferral past the deadline': {
    arrange: async () => {
      const measurement = await ready();
      const { deferral } = await defer(measurement, inHours(20 * 24));
      const [deferred, upload] = await uploads(measurement);
      const until = shortTime(deferral.until);
      const remedy = `Nothing before ${until}; if that is too late, talk to ${world.streamly.name} or cancel the measurement.`;
      return {
        name: measurement.name,
        waits: [{ ...deferred!, code: 'DEFERRED', remedy }, upload!],
        risks: [
          {
            code: 'DEFERRED_PAST_DEADLINE',
            at: `${deadlineOf(measurement, DEADLINES.fulfillWithinHours)}000Z`,
          },
        ],
        says: new RegExp(`deferred it until ${until}, after the deadline`),
      };
    },
  },
};

/** The expected waits for duchies that have not set their parameters. */
function duchiesWithout(measurement: Json) {
  const { aggregator, firstWorker, secondWorker } = world.duchies;
  return [aggregator, firstWorker, secondWorker].map((duchy) => ({
    party: duchy.name,
    resource: computationOf(duchy, measurement),
    code: 'PARAMETERS_MISSING' as const,
    since: measurement.createTime,
    remedy: REMEDY.byItself(duchy),
  }));
}

function stage(
  measurement: Json,
  since: string,
  code: 'STAGE_RUNNING' | 'STAGE_FAILING',
  remedy: (duchy: { name: string }) => string,
  says: RegExp,
) {
  const { firstWorker } = world.duchies;
  const resource = computationOf(firstWorker, measurement);
  const waits = [{ party: firstWorker.name, resource, code, since, remedy: remedy(firstWorker) }];
  return { name: measurement.name, waits, says };
}

it.each(Object.entries(SITUATIONS))(
  'the explanation of a measurement with %s has the expected waits and risks',
  async (_title, situation) => {
    const explanation = await check(situation);
    expect(JSON.stringify(explanation)).not.toContain(world.globex.name);
    expect(explanation.ending).toBeUndefined();
  },
);

it('the explanation of a measurement has the time of its creation or of its last state change', async () => {
  const [pending, computing] = [await direct(), await world.createComputing()];
  const { updateTime } = await get(exchange, world.acme, computing.name);
  expect(await explain(pending.name)).toMatchObject({ state: pending.state, since: pending.createTime });
  expect(await explain(computing.name)).toMatchObject({ state: 'COMPUTING', since: updateTime });
});
