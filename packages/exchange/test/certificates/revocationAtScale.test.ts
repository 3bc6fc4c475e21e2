/**
 * Tests the revocation of a certificate that many measurements depend on. With `npm run stress`, also kills exchanges
 * during the cascade.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { loadMeasurements } from '@measurement-exchange/testkit/bulk';
import {
  createDatabase,
  type Database,
  type DevParty,
  measurementRequest,
  startExchange,
} from '@measurement-exchange/testkit/exchange';
import { startExchangeProcess } from '@measurement-exchange/testkit/process';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { castOf, ok, post } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { doctor } from '../../src/database/doctor.ts';

const rate = { perSecond: 1e6, burst: 1e6 };
/**
 * The minimum number of pending measurements that depend on the certificate. 700 measurements are enough for three
 * steps of a cascade. With `npm run stress`, the test uses 10,000 measurements, for which the contract promises a
 * cascade of at most 10 s. The test prints the time, but does not check it.
 */
const PENDING = rounds(10_000, 700);
/** The number of measurements to load. Six in ten of them are pending. */
const BULK = Math.ceil(PENDING * 1.67);

async function count(database: Database, condition: string): Promise<number> {
  const [row] = await database.query(`SELECT count(*)::int AS n FROM measurements WHERE ${condition}`);
  return row!.n as number;
}
const isPending = `state = 'AWAITING_REQUISITION_FULFILLMENT' AND consumer = 'measurementConsumers/acme'`;
const isRevoked = `failure_reason IS NOT DISTINCT FROM 'CERTIFICATE_REVOKED'`;

async function cascaded(database: Database): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await database.query('SELECT 1 FROM revocation_cascades')).length > 0) {
    if (Date.now() > deadline) throw new Error('The cascade did not end in time.');
    await sleep(20);
  }
}

describe('many measurements that depend on one revoked certificate', () => {
  const sides = [['consumer', 'REVOKED'], ...(isStress ? [['provider', 'HOLD']] : [])];
  it.each(sides)(
    'of a %s are failed while other measurements are created',
    { timeout: 120_000 },
    async (side, revocationState) => {
      const exchange = await startExchange({ rate, logLevel: 'error' });
      const { acme, globex, streamly, chirper, dailynews } = castOf(exchange);
      await loadMeasurements(exchange.database, {
        consumer: acme,
        providers: [streamly, chirper],
        count: BULK,
      });
      const pending = await count(exchange.database, isPending);
      const ended = await count(exchange.database, `NOT (${isPending})`);
      expect(pending).toBeGreaterThanOrEqual(PENDING);

      let on = true;
      const slow: number[] = [];
      const create = async (consumer: DevParty) => {
        let made = 0;
        for (; on; made++) {
          const began = performance.now();
          await ok(
            post(
              exchange,
              consumer,
              `${consumer.name}/measurements`,
              measurementRequest(consumer, [dailynews]),
            ),
          );
          slow.push(performance.now() - began);
        }
        return made;
      };
      const creating = [create(globex), create(globex)];
      const owner = side === 'consumer' ? acme : streamly;
      const began = performance.now();
      await ok(post(exchange, owner, `${owner.certificate}:revoke`, { revocationState }));
      const answered = performance.now() - began;
      await cascaded(exchange.database);
      const seconds = (performance.now() - began) / 1000;
      on = false;
      const made = (await Promise.all(creating)).reduce((a, b) => a + b);

      expect(await count(exchange.database, isPending)).toBe(0);
      expect(await count(exchange.database, isRevoked)).toBe(pending);
      expect(await count(exchange.database, `NOT (${isRevoked}) AND consumer = '${acme.name}'`)).toBe(ended);
      expect(made).toBeGreaterThan(0);
      console.info(
        `${pending} failed in ${seconds.toFixed(1)} s; the revocation was answered in ${answered.toFixed(0)} ms; ` +
          `${made} created meanwhile, the slowest in ${Math.max(...slow).toFixed(0)} ms`,
      );
      expect(await exchange.stop()).toEqual([]);
    },
  );
});

describe('an exchange that is killed in the middle of a cascade', () => {
  it.runIf(isStress)('leaves the rest to other replicas, or to itself after a restart', async () => {
    const database = await createDatabase();
    const config = { rate };
    const first = await startExchangeProcess({ databaseUrl: database.url, config });
    const second = await startExchangeProcess({ databaseUrl: database.url, config });
    const [acme] = first.dev.measurementConsumers as [DevParty];
    const [streamly, chirper] = first.dev.dataProviders as [DevParty, DevParty];
    const holder = new pg.Client({ connectionString: database.url });
    try {
      await loadMeasurements(database, { consumer: acme, providers: [streamly, chirper], count: BULK });
      const pending = await count(database, isPending);
      // Lock the 601st pending measurement. A step of the cascade fails at most 250 measurements, so no exchange can
      // finish the third step.
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query(
        `SELECT 1 FROM measurements WHERE id = (
           SELECT id FROM measurements WHERE ${isPending} ORDER BY create_time, id LIMIT 1 OFFSET 600) FOR UPDATE`,
      );
      await ok(
        first.call(acme.token, 'POST', `/v2alpha/${acme.certificate}:revoke`, { revocationState: 'REVOKED' }),
      );
      await first.kill('SIGKILL');
      await expect.poll(() => count(database, isRevoked), { timeout: 90_000, interval: 100 }).toBe(500);
      await second.kill('SIGKILL');
      await holder.query('COMMIT');
      await sleep(500);
      expect(await count(database, isRevoked)).toBe(500);
      expect(await count(database, isPending)).toBe(pending - 500);

      const again = await startExchangeProcess({ databaseUrl: database.url, dataDir: first.dataDir, config });
      await cascaded(database);
      await again.kill();
      expect(await count(database, isPending)).toBe(0);
      expect(await count(database, isRevoked)).toBe(pending);
      const ailments = await doctor({ connection: { connectionString: database.url } });
      expect(ailments.filter(({ severity }) => severity === 'error')).toEqual([]);
    } finally {
      await holder.end();
      await first.remove();
      await second.remove();
      await database.drop();
    }
  });
});
