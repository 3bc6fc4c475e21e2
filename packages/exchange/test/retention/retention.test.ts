import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { DAY_MS, newCertificate } from '@measurement-exchange/testkit/certificates';
import {
  type DevParty,
  measurementRequest,
  type Reply,
  startExchange,
  type TestExchange,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  get,
  metadata,
  ok,
  post,
  refuse,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { Database as Sql } from '../../src/database/db.ts';
import { applyRetention, previewRetention, type Retention } from '../../src/jobs/retention.ts';

type Json = Reply['json'];
const WITHIN = { timeout: 30_000 };
const EXPIRED = `transitions WHERE cause = 'expired'`;
const TERMINAL = `state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')`;

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
const opened: Sql[] = [];

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
});
afterAll(async () => {
  for (const db of opened) await db.close();
});

/** Returns a replica whose clock is this many days ahead, so that the replica treats all data as this much older. */
function replica(days: number, of = exchange) {
  const db = new Sql({
    connection: { connectionString: of.database.url },
    applicationName: 'test',
    maxConnections: 2,
  });
  opened.push(db);
  return { db, clock: (): Timestamp => timestampOf(Date.now() + days * DAY_MS) };
}

/** Runs the retention job until nothing is left to do, and returns the number of batches. */
async function run(store: ReturnType<typeof replica>, retention: Retention): Promise<number> {
  let batches = 1;
  while (await applyRetention(store, retention)) batches++;
  return batches;
}

async function count(from: string, of = exchange): Promise<number> {
  const [row] = await of.database.query(`SELECT count(*)::int AS n FROM ${from}`);
  return row!.n as number;
}

/** Creates three measurements. Ends the first with SUCCEEDED, the second with FAILED, and the third with CANCELLED. */
async function ended(): Promise<Record<'SUCCEEDED' | 'FAILED' | 'CANCELLED', Json>> {
  const names: Json[] = [];
  for (let i = 0; i < 3; i++) names.push(await createMeasurement(exchange, acme, [streamly, chirper]));
  const [succeeded, failed, cancelled] = names;
  for (const [i, provider] of [streamly, chirper].entries()) {
    await ok(fulfill(exchange, provider, await requisitionOf(exchange, provider, succeeded), BigInt(i + 1)));
  }
  await ok(refuse(exchange, streamly, await requisitionOf(exchange, streamly, failed)));
  await ok(post(exchange, acme, `${cancelled.name}:cancel`));
  const [SUCCEEDED, FAILED, CANCELLED] = await Promise.all(
    names.map(({ name }) => get(exchange, acme, name)),
  );
  return { SUCCEEDED, FAILED, CANCELLED };
}

const remove = { removeTerminalAfterDays: 30 };

describe('the retention job', () => {
  it('runs only on an exchange that configures it', async () => {
    expect(loadConfig({}).retention).toBeUndefined();
    const retention = { cancelPendingAfterDays: 30, removeTerminalAfterDays: 30 };
    const keen = await startExchange({ retention });
    for (const { dev, database } of [keen, exchange]) {
      const [consumer, providers] = [dev.measurementConsumers[0]!, dev.dataProviders];
      await loadMeasurements(database, { consumer, providers, count: 300 });
    }
    // Wake the jobs with a revocation, because they otherwise run again only a minute later.
    const wake = async (exchange: TestExchange) => {
      const party = exchange.dev.dataProviders[0]!;
      const { x509Der } = await newCertificate();
      const { name } = await ok(post(exchange, party, `${party.name}/certificates`, { x509Der }));
      await ok(post(exchange, party, `${name}:revoke`, { revocationState: 'REVOKED' }));
    };
    await wake(exchange);
    await wake(keen);
    const [terminal, pending] = [await count(`measurements WHERE ${TERMINAL}`), await count('measurements')];
    await expect.poll(() => count('measurement_tombstones', keen), WITHIN).toBe(terminal);
    await expect.poll(() => count(EXPIRED, keen), WITHIN).toBe(pending - terminal);
    expect(await keen.stop()).toEqual([]);
    expect(await count('measurement_tombstones')).toBe(0);
    expect(await count(EXPIRED)).toBe(0);
  });

  it('cancels measurements that are pending for too long, and withdraws unfulfilled requisitions', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly, chirper]);
    await ok(fulfill(exchange, streamly, await requisitionOf(exchange, streamly, measurement), 1n));
    await run(replica(9), { cancelPendingAfterDays: 10 });
    expect(await get(exchange, acme, measurement.name)).toEqual(measurement);

    await run(replica(11), { cancelPendingAfterDays: 10 });
    const after = await get(exchange, acme, measurement.name);
    expect(after).toEqual({ ...measurement, state: 'CANCELLED', updateTime: after.updateTime });
    const { requisitions } = await get(exchange, acme, `${measurement.name}/requisitions`);
    expect(requisitions.map((r: Json) => [r.dataProvider, r.state]).sort()).toEqual([
      [chirper.name, 'WITHDRAWN'],
      [streamly.name, 'FULFILLED'],
    ]);
    const { transitions } = await get(exchange, acme, `${measurement.name}:timeline`);
    const last = transitions.slice(-2).map((t: Json) => [t.cause, t.actor, t.from, t.to]);
    expect(last).toEqual([
      ['expired', 'retention', 'AWAITING_REQUISITION_FULFILLMENT', 'CANCELLED'],
      ['withdrawn', 'retention', 'UNFULFILLED', 'WITHDRAWN'],
    ]);
  });

  it('removes measurements 30 days after their last change, and its preview changes nothing', async () => {
    const { SUCCEEDED } = await ended();
    const store = replica(31);
    const before = await Promise.all(['measurements', 'requisitions', 'transitions'].map((t) => count(t)));
    const preview = await previewRetention(store, { cancelPendingAfterDays: 30, ...remove });
    expect(preview).toEqual({
      cancel: await count(`measurements WHERE state = 'AWAITING_REQUISITION_FULFILLMENT'`),
      // Leave out the measurements that an earlier test canceled on a replica eleven days ahead. The replica of this
      // test is 31 days ahead, so these measurements are only twenty days old for it.
      remove: await count(`measurements WHERE ${TERMINAL} AND update_time < now() + interval '1 hour'`),
    });
    expect(preview.remove).toBeGreaterThan(100);
    expect(await previewRetention(store, {})).toEqual({ cancel: 0, remove: 0 });
    expect(await Promise.all(['measurements', 'requisitions', 'transitions'].map((t) => count(t)))).toEqual(
      before,
    );
    expect(await count('measurement_tombstones')).toBe(0);

    await run(replica(29), remove);
    expect(await get(exchange, acme, SUCCEEDED.name)).toEqual(SUCCEEDED);
    await run(store, remove);
    expect(await previewRetention(store, remove)).toEqual({ cancel: 0, remove: 0 });
    expect(await count('measurement_tombstones')).toBe(preview.remove);
    expect(await count(`measurements WHERE ${TERMINAL}`)).toBeGreaterThan(0);
  });
});

describe('a tombstone', () => {
  const requestId = 'long ago';
  let request: Json;
  let gone: Record<'SUCCEEDED' | 'FAILED' | 'CANCELLED', Json>;
  let alive: Json;
  /** The requisitions of the removed measurements, as both the providers and the consumer see them. */
  let requisitions: Json[];
  let first: Json;

  beforeAll(async () => {
    request = { ...measurementRequest(acme, [streamly]), requestId };
    first = await ok(post(exchange, acme, `${acme.name}/measurements`, request));
    await ok(post(exchange, acme, `${first.name}:cancel`));
    gone = await ended();
    requisitions = [];
    for (const measurement of Object.values(gone)) {
      for (const provider of [streamly, chirper])
        requisitions.push(await requisitionOf(exchange, provider, measurement));
      requisitions.push(...(await get(exchange, acme, `${measurement.name}/requisitions`)).requisitions);
    }
    await run(replica(31), remove);
    alive = await createMeasurement(exchange, acme, [streamly, chirper]);
  });

  const ownerOf = ({ name, dataProvider }: Json) =>
    name.startsWith(acme.name) ? acme : [streamly, chirper].find((p) => p.name === dataProvider)!;
  const left = ({ name, state, createTime, updateTime }: Json) => ({
    ...{ name, state, createTime, updateTime },
    deleteTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  });

  it('is returned by get and batchGet for a removed measurement, with only name, state and times', async () => {
    for (const [state, measurement] of Object.entries(gone)) {
      const tombstone = await get(exchange, acme, measurement.name);
      expect(tombstone).toEqual(left(measurement));
      expect(tombstone.state).toBe(state);
      expect(tombstone.deleteTime > tombstone.updateTime).toBe(true);
    }
    const wanted = [gone.FAILED, alive, gone.SUCCEEDED, gone.FAILED];
    const names = wanted.map(({ name }) => name);
    const { measurements } = await ok(post(exchange, acme, `${acme.name}/measurements:batchGet`, { names }));
    expect(measurements).toEqual([left(gone.FAILED), alive, left(gone.SUCCEEDED), left(gone.FAILED)]);
  });

  it('is returned for the requisitions of a removed measurement, in both views', async () => {
    expect(requisitions).toHaveLength(12);
    for (const requisition of requisitions) {
      expect(await get(exchange, ownerOf(requisition), requisition.name)).toEqual(left(requisition));
    }
  });

  it('is in no list, and has an empty timeline', async () => {
    const { measurements } = await get(exchange, acme, `${acme.name}/measurements?pageSize=1000`);
    const listed = measurements.map((m: Json) => m.name);
    expect(listed).toContain(alive.name);
    for (const { name } of Object.values(gone)) expect(listed).not.toContain(name);
    const own = await get(exchange, streamly, `${streamly.name}/requisitions?pageSize=1000`);
    expect(own.requisitions.map((r: Json) => r.measurement)).toContain(alive.name);
    for (const { name } of Object.values(gone)) {
      expect(own.requisitions.map((r: Json) => r.measurement)).not.toContain(name);
      expect(await get(exchange, acme, `${name}/requisitions`)).toEqual({ requisitions: [] });
      expect(await get(exchange, acme, `${name}:timeline`)).toEqual({ transitions: [] });
    }
    for (const requisition of requisitions.filter((r) => ownerOf(r) !== acme)) {
      expect(await get(exchange, ownerOf(requisition), `${requisition.name}:timeline`)).toEqual({
        transitions: [],
      });
    }
  });

  it('is not visible to other parties', async () => {
    const { name } = gone.FAILED;
    const id = name.split('/').at(-1);
    const foreign = await exchange.call(globex.token, 'GET', `/v2alpha/${globex.name}/measurements/${id}`);
    expect(errorOf(foreign)).toBe('404 NOT_FOUND MEASUREMENT_NOT_FOUND');
    const stranger = await exchange.call(globex.token, 'GET', `/v2alpha/${name}`);
    expect(errorOf(stranger)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    const other = requisitions
      .find((r) => ownerOf(r) === chirper)!
      .name.split('/')
      .at(-1);
    const not = await exchange.call(streamly.token, 'GET', `/v2alpha/${streamly.name}/requisitions/${other}`);
    expect(errorOf(not)).toBe('404 NOT_FOUND REQUISITION_NOT_FOUND');
  });

  it('is returned for its repeated requestId, which its consumer cannot reuse for other content', async () => {
    const tombstone = await get(exchange, acme, first.name);
    const again = await Promise.all(
      Array.from({ length: 8 }, () => post(exchange, acme, `${acme.name}/measurements`, request)),
    );
    for (const reply of again) expect(await ok(reply)).toEqual(tombstone);
    expect(Object.keys(tombstone).sort()).toEqual([
      'createTime',
      'deleteTime',
      'name',
      'state',
      'updateTime',
    ]);
    const other = { ...measurementRequest(acme, [chirper]), requestId };
    const reused = await post(exchange, acme, `${acme.name}/measurements`, other);
    expect(errorOf(reused)).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
    expect(metadata(reused)).toEqual({ requestId, existing: first.name });
    await ok(
      post(exchange, globex, `${globex.name}/measurements`, {
        ...measurementRequest(globex, [chirper]),
        requestId,
      }),
    );
  });

  it.each(['', '?validateOnly=true'])(
    'can be neither cancelled nor fulfilled nor refused%s',
    async (query) => {
      for (const { name, state } of Object.values(gone)) {
        const reply = await post(exchange, acme, `${name}:cancel${query}`);
        expect(errorOf(reply)).toBe('400 FAILED_PRECONDITION MEASUREMENT_STATE_ILLEGAL');
        expect(metadata(reply)).toEqual({ measurement: name, state });
      }
      for (const { name, etag, state, dataProvider } of requisitions.filter((r) => ownerOf(r) !== acme)) {
        const provider = [streamly, chirper].find((p) => p.name === dataProvider)!;
        const body = {
          encryptedResult: { ciphertext: 'AA==', typeUrl: 't' },
          nonce: 1,
          certificate: provider.certificate,
        };
        for (const reply of [
          await post(exchange, provider, `${name}:fulfillDirect${query}`, { ...body, etag }),
          await post(exchange, provider, `${name}:refuse${query}`, {
            refusal: { justification: 'DECLINED' },
            etag,
          }),
        ]) {
          expect(errorOf(reply)).toBe('400 FAILED_PRECONDITION REQUISITION_STATE_ILLEGAL');
          expect(metadata(reply)).toEqual({ requisition: name, state });
        }
      }
    },
  );
});
