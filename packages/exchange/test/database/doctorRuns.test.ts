/**
 * Tests the doctor as the exchange runs it: on request, when it is due, and one run at a time. Also tests the status of
 * the exchange.
 */
import { type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { castOf, createMeasurement, ok, post, requisitionOf } from '@measurement-exchange/testkit/steps';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { CHECKS } from '../../src/database/doctor.ts';
import { getDoctorRun } from '../../src/database/doctorRun.ts';
import { readMigrations } from '../../src/database/migrate.ts';
import { DoctorRuns } from '../../src/jobs/doctor.ts';

type Json = Reply['json'];
const exchange = useExchange();
const replica = useReplica(exchange);
const SILENT = pino({ level: 'silent' });

const doctor = (): Promise<Json> => ok(asOperator(exchange, 'GET', 'doctor'));
const run = (query = ''): Promise<Json> => ok(asOperator(exchange, 'POST', `doctor:run${query}`));
const requests = async () => (await exchange.database.query('SELECT requests FROM doctor_run'))[0]!.requests;
const rest = () =>
  exchange.database.query(`UPDATE doctor_run SET end_time = end_time - interval '2 minutes'`);

/** Runs the doctor and returns its report. */
async function examined(): Promise<Json> {
  const { startTime, running } = await run();
  expect(running).toBe(true);
  await expect.poll(doctor, { timeout: 60_000 }).toMatchObject({ running: false, startTime });
  return doctor();
}

describe('the doctor of an exchange', () => {
  it('has not run on a new exchange, and is not started by a request with validateOnly', async () => {
    expect(await doctor()).toEqual({ running: false, findings: [] });
    expect(await run('?validateOnly=true')).toEqual({ running: false, findings: [] });
    expect(await requests()).toBe(0);
  });

  it('runs in the background, and reports the number of checks and their findings', async () => {
    const { endTime, startTime, checks, findings } = await examined();
    expect(endTime > startTime).toBe(true);
    expect(checks).toBe(CHECKS.length);
    expect(findings.filter(({ severity }: Json) => severity === 'error')).toEqual([]);

    // A request within a minute of the last run does not run the doctor again.
    expect(await run()).toMatchObject({ running: false, startTime, endTime });
    expect(await requests()).toBe(1);

    await rest();
    await exchange.database.query('ALTER TABLE measurements DISABLE TRIGGER terminal_state');
    const ill = await examined();
    await exchange.database.query('ALTER TABLE measurements ENABLE TRIGGER terminal_state');
    expect(ill.findings).toContainEqual({
      ...{ check: 'trigger-off', severity: 'error', rows: 1, examples: ['measurements terminal_state'] },
      ...{ meaning: expect.stringContaining('trigger'), remedy: expect.stringContaining('ALTER TABLE') },
    });
    // Poll, because a transaction of another test on the server may delay the audit entry.
    const audited = async () => {
      const { auditEntries } = await ok(asOperator(exchange, 'GET', 'auditEntries?filter.name=doctor'));
      return auditEntries.map(({ operation, principal }: Json) => `${operation} ${principal}`);
    };
    await expect.poll(audited, { timeout: 90_000 }).toEqual(['runDoctor operator', 'runDoctor operator']);
  });

  it('does not start while another replica runs it', async () => {
    await rest();
    await exchange.database.query(`UPDATE doctor_run SET lease_expiry = now() + interval '1 hour'`);
    const before = await doctor();
    expect(await run()).toEqual({ ...before, running: true });
    await exchange.database.query('UPDATE doctor_run SET lease_expiry = NULL');
    expect(await requests()).toBe(2);
  });

  it('runs automatically when the interval has passed, but not before', async () => {
    const connection = { connectionString: exchange.database.url };
    const replicas = [1, 2].map(() => new DoctorRuns({ ...replica(25), connection, log: SILENT }));
    const before = await getDoctorRun(replica(0).db);
    await Promise.all(replicas.map((one) => one.runIfDue(48)));
    expect(await getDoctorRun(replica(0).db)).toEqual(before);
    await Promise.all(replicas.map((one) => one.runIfDue(24)));
    await expect
      .poll(() => getDoctorRun(replica(0).db), { timeout: 60_000 })
      .toMatchObject({ isRunning: false, checks: CHECKS.length, requests: 2, failure: null });
    expect((await getDoctorRun(replica(0).db)).startTime! > before.startTime!).toBe(true);
    for (const one of replicas) await one.stop();
  });

  it('is interrupted when the exchange stops, and reports a failure', async () => {
    const connection = { connectionString: exchange.database.url };
    const stopped = new DoctorRuns({ ...replica(50), connection, log: SILENT });
    await stopped.runIfDue(24);
    await stopped.stop();
    expect(await doctor()).toMatchObject({ running: false, findings: [], failure: expect.any(String) });
  });
});

it('exchangeStatus returns the running replicas, the last migration, and the counts of measurements', async () => {
  const { acme, streamly, chirper } = castOf(exchange);
  await createMeasurement(exchange, acme, [streamly]);
  const refused = await createMeasurement(exchange, acme, [chirper]);
  const { name, etag } = await requisitionOf(exchange, chirper, refused);
  await ok(post(exchange, chirper, `${name}:refuse`, { etag, refusal: { justification: 'DECLINED' } }));
  // Add a replica that was seen recently, and a replica that was last seen too long ago to count as running.
  await exchange.database.query(
    `INSERT INTO replicas VALUES ('older', 'h', '0.0.1', now() - interval '1 day', now() - interval '1 minute'),
       ('gone', 'h', '0.0.1', now() - interval '1 day', now() - interval '5 minutes')`,
  );
  const status = await ok(asOperator(exchange, 'GET', 'exchangeStatus'));
  const { version, name: migration } = readMigrations().at(-1)!;
  expect(status).toMatchObject({
    mode: 'development',
    schema: { migration: version, name: migration },
    replicas: [{ name: 'older', version: '0.0.1' }, { version: status.version }],
    measurements: {
      open: [
        { state: 'AWAITING_REQUISITION_FULFILLMENT', count: 1 },
        { state: 'COMPUTING', count: 0 },
      ],
      ended: [{ state: 'SUCCEEDED', count: 0 }, { state: 'FAILED', count: 1 }, { state: 'CANCELLED' }],
      refused: { count: 1 },
    },
  });
});
