/** Tests the explanations of measurements that have ended: why each one ended, and what its consumer can do next. */
import { act, useComputations } from '@measurement-exchange/testkit/computations';
import { UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { fulfill, get, ok, post, refuse } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';
import { failOverdueComputations } from '../../src/jobs/computationDeadlines.ts';
import { applyRetention } from '../../src/jobs/retention.ts';
import { DEADLINES, type Json, REMEDY, useExplained } from './world.ts';

const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const { check, direct, explain, own, replica, withCertificate } = useExplained(world);

interface Ended {
  code: string;
  remedy: string;
  says: RegExp;
  end: () => Promise<Json>;
}

const ENDINGS: Record<string, Ended> = {
  'a refusal': {
    code: 'REFUSED',
    remedy:
      'Fix the reason of the refusal, or measure without this provider, and create the measurement again.',
    says: /DECLINED: not this quarter/,
    end: async () => {
      const measurement = await direct();
      await ok(refuse(exchange, world.streamly, await own(measurement)));
      return measurement;
    },
  },
  'a cancellation': {
    code: 'CANCELLED',
    remedy: REMEDY.again,
    says: /measurementConsumers\/acme cancelled it/,
    end: async () => ok(post(exchange, world.acme, `${(await direct()).name}:cancel`)),
  },
  'being pending for too long': {
    code: 'PENDING_TOO_LONG',
    remedy: REMEDY.again,
    says: /retention of the exchange cancelled it/,
    end: async () => {
      const measurement = await direct();
      await applyRetention(replica(24 * 50), { cancelPendingAfterDays: 40 });
      return measurement;
    },
  },
  'a duchy that gave up': {
    code: 'DUCHY_GAVE_UP',
    remedy:
      'It may be transient: create the measurement again; if it fails again, ask the operator of the duchy.',
    says: /STAGE_FAILED: The stage failed again and again\./,
    end: async () => {
      const measurement = await world.createComputing();
      await ok(act(exchange, world.duchies.firstWorker, measurement, 'fail', { code: 'STAGE_FAILED' }));
      return measurement;
    },
  },
  'a missed deadline': {
    code: 'DEADLINE_MISSED',
    remedy: 'Ask the late parties for the reason; then the measurement can be created again.',
    says: /set no parameters within 1 h/,
    end: async () => {
      const measurement = await world.create();
      while (await failOverdueComputations(replica(2), DEADLINES));
      return measurement;
    },
  },
  'a revoked certificate': {
    code: 'CERTIFICATE_REVOKED',
    remedy: 'Its owner registers another certificate; then the measurement can be created again.',
    says: /certificates\/\w+ .*revoked/,
    end: async () => {
      const { measurement, certificate } = await withCertificate(48, [world.streamly]);
      await ok(post(exchange, world.streamly, `${certificate.name}:revoke`, { revocationState: 'REVOKED' }));
      await expect.poll(async () => (await explain(measurement.name)).state).toBe('FAILED');
      return measurement;
    },
  },
  'a success': {
    code: 'SUCCEEDED',
    remedy: 'Read its results (mex measurements results).',
    says: /It succeeded/,
    end: async () => {
      const measurement = await direct();
      await ok(fulfill(exchange, world.streamly, await own(measurement), 1n));
      return measurement;
    },
  },
};

it.each(Object.entries(ENDINGS))(
  'the explanation of a measurement ended by %s has the right code, remedy and time',
  async (_title, { end, says, ...ending }) => {
    let name = '';
    const explanation = await check({
      arrange: async () => {
        ({ name } = await end());
        return { name, ending, says };
      },
    });
    const { state, updateTime } = await get(exchange, world.acme, name);
    expect(explanation).toMatchObject({ state, since: updateTime });
  },
);
