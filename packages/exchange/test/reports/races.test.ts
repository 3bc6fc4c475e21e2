/**
 * Runs two exchanges over one database while several clients of one consumer change the same report at the same time.
 */
import {
  createDatabase,
  type Database,
  type DevParty,
  fulfillment,
  measurementRequest,
  type Reply,
} from '@measurement-exchange/testkit/exchange';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { reportKey, reportRequest } from '@measurement-exchange/testkit/requests';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { doctor } from '../../src/database/doctor.ts';

const ROUNDS = rounds(20);

let database: Database;
let servers: ExchangeProcess[];
const failures: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const config = { rate: { perSecond: 1e6, burst: 1e6 } };
  const start = () => startExchangeProcess({ databaseUrl: database.url, config });
  servers = await Promise.all([start(), start()]);
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await Promise.all(servers.map((server) => server.remove()));
  const ailments = await doctor({ connection: { connectionString: database.url } });
  await database.drop();
  expect(failures).toEqual([]);
  expect(ailments).toEqual([]);
});

type Role = 'consumer' | 'provider';
const partyOf = (at: number, role: Role): DevParty => {
  const { measurementConsumers, dataProviders } = servers[at]!.dev;
  return (role === 'consumer' ? measurementConsumers : dataProviders)[0]!;
};

/**
 * Sends a request to server `at`, with the token that this server issued to the party. Each server has its own issuer.
 */
async function call(at: number, role: Role, method: string, path: string, body?: unknown): Promise<Reply> {
  const { name, token } = partyOf(at, role);
  const reply = await servers[at]!.call(token, method, `/v2alpha/${name}/${path}`, body);
  if (reply.status >= 500) failures.push(`${method} ${path}: ${reply.text}`);
  return reply;
}

const outcome = ({ status, json }: Reply) =>
  status === 200 ? 'OK' : `${status} ${json.error.details[0].reason}`;
const below = ({ name }: { name: string }) => name.split('/').slice(2).join('/');

async function newReport(measurements: string[] = []) {
  return (await call(0, 'consumer', 'POST', 'reports', reportRequest(measurements))).json;
}

async function newMeasurement() {
  const request = measurementRequest(partyOf(0, 'consumer'), [partyOf(0, 'provider')]);
  const measurement = (await call(0, 'consumer', 'POST', 'measurements', request)).json;
  const { requisitions } = (await call(0, 'provider', 'GET', 'requisitions?filter.states=UNFULFILLED')).json;
  const requisition = requisitions.find((r: { measurement: string }) => r.measurement === measurement.name);
  return { name: measurement.name as string, requisition };
}

/** Checks that the change log has every version of the report once, and that the last version is the stored one. */
async function requireWholeHistory({ name }: { name: string }): Promise<void> {
  const rows = await database.query(`SELECT version FROM changes WHERE name = $1 ORDER BY xid, seq`, [name]);
  expect(rows.map(({ version }) => version)).toEqual(rows.map((_, i) => i + 1));
  const [row] = await database.query(`SELECT version FROM reports WHERE consumer || '/reports/' || id = $1`, [
    name,
  ]);
  expect(row!.version).toBe(rows.length);
}

it('one of two concurrent updates with the same etag fails with REPORT_ETAG_MISMATCH', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const report = await newReport();
    const update = (title: string) => ({ etag: report.etag, title });
    const replies = await Promise.all([
      call(0, 'consumer', 'PATCH', below(report), update('first')),
      call(1, 'consumer', 'PATCH', below(report), update('second')),
    ]);
    expect(replies.map(outcome).sort()).toEqual(['409 REPORT_ETAG_MISMATCH', 'OK']);
    const winner = replies.find(({ status }) => status === 200)!;
    expect((await call(0, 'consumer', 'GET', below(report))).json).toEqual(winner.json);
    await requireWholeHistory(report);
  }
});

it('a deletion succeeds concurrently with an update, which succeeds or fails with REPORT_NOT_FOUND', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const { name: measurement } = await newMeasurement();
    const report = await newReport();
    const measurements = [{ key: reportKey(), measurement }];
    const [updated, deleted] = await Promise.all([
      call(0, 'consumer', 'PATCH', below(report), { etag: report.etag, measurements }),
      call(1, 'consumer', 'DELETE', below(report)),
    ]);
    expect(outcome(deleted)).toBe('OK');
    expect(['OK', '404 REPORT_NOT_FOUND']).toContain(outcome(updated));
    expect(outcome(await call(0, 'consumer', 'GET', below(report)))).toBe('404 REPORT_NOT_FOUND');
    await requireWholeHistory(report);
  }
});

it('concurrent creates with the same requestId create one report, with or without a reportId', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const body = { ...reportRequest(), requestId: `twice-${i}` };
    const path = i % 2 === 0 ? 'reports' : `reports?reportId=twice-${i}`;
    const replies = await Promise.all([0, 1, 0, 1].map((at) => call(at, 'consumer', 'POST', path, body)));
    expect(replies.map(outcome)).toEqual(['OK', 'OK', 'OK', 'OK']);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    await requireWholeHistory(replies[0]!.json);
  }
});

it('one of two concurrent creates with the same reportId fails with REPORT_ALREADY_EXISTS', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const path = `reports?reportId=chosen-${i}`;
    const replies = await Promise.all(
      [0, 1].map((at) => call(at, 'consumer', 'POST', path, reportRequest())),
    );
    expect(replies.map(outcome).sort()).toEqual(['409 REPORT_ALREADY_EXISTS', 'OK']);
  }
});

it('a report becomes COMPLETE even if its measurements end while one is appended', async () => {
  const reports = [];
  for (let i = 0; i < ROUNDS; i++) {
    const [first, second] = [await newMeasurement(), await newMeasurement()];
    const report = await newReport([first.name]);
    const body = { etag: report.etag, measurements: [{ key: reportKey(), measurement: second.name }] };
    const end = (at: number, { requisition }: typeof first) =>
      call(
        at,
        'provider',
        'POST',
        `${below(requisition)}:fulfillDirect`,
        fulfillment(partyOf(at, 'provider'), requisition, 1n),
      );
    const replies = await Promise.all([
      call(0, 'consumer', 'PATCH', below(report), body),
      end(1, first),
      end(0, second),
    ]);
    expect(replies.map(outcome)).toEqual(['OK', 'OK', 'OK']);
    reports.push(report);
  }
  const waiting = async () => (await database.query(`SELECT FROM reports WHERE state = 'RUNNING'`)).length;
  await vi.waitUntil(async () => (await waiting()) === 0, { timeout: 30_000, interval: 20 });
  for (const report of reports) {
    expect((await call(0, 'consumer', 'GET', below(report))).json.state).toBe('COMPLETE');
    await requireWholeHistory(report);
  }
});
