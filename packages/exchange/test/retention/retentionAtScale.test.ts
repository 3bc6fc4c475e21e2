/**
 * Tests the retention job with thousands of measurements, several replicas, and concurrent requests. Also tests which
 * removals the database allows, and which it denies.
 */
import { timestampOf } from '@measurement-exchange/contract';
import { loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { measurementRequest, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { castOf, post } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database as Sql } from '../../src/database/db.ts';
import { migrate } from '../../src/database/migrate.ts';
import { ensureRole } from '../../src/database/roles.ts';
import { applyRetention, previewRetention } from '../../src/jobs/retention.ts';

/** The number of measurements to load. About 40% of them have ended. */
const ROWS = rounds(10_000, 2_000);
/** The number of measurements that two replicas cancel or remove at the same time. */
const SHARED = rounds(2_000, 600);
const BATCH = 200;
const retention = { cancelPendingAfterDays: 30, removeTerminalAfterDays: 30 };
const remove = { removeTerminalAfterDays: 30 };
const OLD = `update_time < now() - interval '30 days'`;
const TERMINAL = `state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')`;

let replicas: Sql[];

const exchange = useExchange({ rate: UNLIMITED, logLevel: 'warn' });
beforeAll(() => {
  const connection = { connectionString: exchange.database.url };
  replicas = [1, 2].map((n) => new Sql({ connection, applicationName: `replica ${n}`, maxConnections: 2 }));
});
afterAll(async () => {
  for (const db of replicas) await db.close();
});

const store = (db: Sql) => ({ db, clock: () => timestampOf(Date.now()) });

async function load(first: number, count: number): Promise<void> {
  const { acme } = castOf(exchange);
  await loadMeasurements(exchange.database, {
    consumer: acme,
    providers: exchange.dev.dataProviders,
    count,
    first,
  });
}

async function count(from: string): Promise<number> {
  const [row] = await exchange.database.query(`SELECT count(*)::int AS n FROM ${from}`);
  return row!.n as number;
}

describe('the retention job', () => {
  it('cancels and removes each measurement once on two concurrent replicas', async () => {
    await load(0, SHARED);
    const [terminal, requisitions] = [
      await count(`measurements WHERE ${TERMINAL}`),
      await count(`requisitions WHERE measurement IN (SELECT id FROM measurements WHERE ${TERMINAL})`),
    ];
    // Repeat until nothing is left for either replica, because a replica stops when the other replica has locked the
    // remaining rows.
    for (let left = 1; left > 0; ) {
      await Promise.all(
        replicas.map(async (db) => {
          while (await applyRetention(store(db), retention));
        }),
      );
      const preview = await previewRetention(store(replicas[0]!), retention);
      left = preview.cancel + preview.remove;
    }
    expect(await count('measurement_tombstones')).toBe(terminal);
    expect(await count('requisition_tombstones')).toBe(requisitions);
    expect(await count(`measurements WHERE state = 'CANCELLED'`)).toBe(SHARED - terminal);
    expect(await count(`transitions WHERE cause = 'expired'`)).toBe(SHARED - terminal);
  });

  it('does not block a create while the removal of a batch is not committed', async () => {
    await load(100_000, BATCH);
    const { acme, streamly } = castOf(exchange);
    const client = new pg.Client({ connectionString: exchange.database.url });
    await client.connect();
    try {
      await client.query('BEGIN');
      const old = `(SELECT array_agg(id) FROM measurements WHERE ${TERMINAL} AND ${OLD})`;
      const { rows } = await client.query(`SELECT remove_measurements(${old}, now()) AS n`);
      expect(rows[0].n).toBeGreaterThan(40);
      const request = measurementRequest(acme, [streamly]);
      expect((await post(exchange, acme, `${acme.name}/measurements`, request)).status).toBe(200);
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
  });

  it(`removes ${ROWS * 0.4} measurements in batches of ${BATCH}, and blocks no create`, async () => {
    await load(200_000, ROWS);
    const terminal = await count(`measurements WHERE ${TERMINAL} AND ${OLD}`);
    const before = await count('measurement_tombstones');
    const { acme, streamly } = castOf(exchange);

    let removing = true;
    let created = 0;
    const statuses = new Set<number>();
    const create = async () => {
      const request = measurementRequest(acme, [streamly]);
      statuses.add((await post(exchange, acme, `${acme.name}/measurements`, request)).status);
      created++;
    };
    const creating = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (removing) await create();
      }),
    );
    let batches = 1;
    while (await applyRetention(store(replicas[0]!), remove)) {
      batches++;
      // Wait until at least five measurements per batch have been created, no matter how fast the machine is.
      await vi.waitUntil(() => created >= 5 * batches, { timeout: 30_000, interval: 5 });
    }
    removing = false;
    await creating;

    // The removal must not make a create request wait for a lock. A request that waits for two seconds would fail.
    expect([...statuses]).toEqual([200]);
    expect(await count('measurement_tombstones')).toBe(before + terminal);
    expect(await count(`measurements WHERE ${TERMINAL} AND ${OLD}`)).toBe(0);
    expect(batches).toBeGreaterThanOrEqual(terminal / BATCH);
  });
});

describe('the database', () => {
  const ROLE = 'mex_retention_app';
  let owner: pg.Client;
  let app: pg.Client;

  beforeAll(async () => {
    const connection = { connectionString: exchange.database.url };
    await ensureRole(connection, ROLE);
    await migrate({ connection, appRole: ROLE, mode: 'development' });
    owner = new pg.Client(connection);
    app = new pg.Client(connection);
    await owner.connect();
    await app.connect();
    await app.query(`SET ROLE ${ROLE}`);
    await load(9_000_000, 110);
  });
  afterAll(async () => {
    await app?.end();
    await owner?.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
    await owner?.end();
  });

  /** Runs statements, rolls them back, and returns the error or `done`. */
  async function attempt(client: pg.Client, ...statements: string[]): Promise<string> {
    await client.query('BEGIN');
    try {
      for (const text of statements) await client.query(text);
      return 'done';
    } catch (error) {
      return (error as Error).message;
    } finally {
      await client.query('ROLLBACK');
    }
  }
  const PRETEND = `SET LOCAL mex.removing = 'on'`;
  const SOME = `(SELECT array_agg(id) FROM measurements WHERE ${TERMINAL} AND ${OLD})`;

  it.each(['transitions', 'audit_entries'])('keeps %s append-only for the owner', async (log) => {
    const refused = `${log} is append-only`;
    expect(await attempt(owner, `DELETE FROM ${log}`)).toBe(refused);
    expect(await attempt(owner, `UPDATE ${log} SET request_id = ''`)).toBe(refused);
    expect(await attempt(owner, `TRUNCATE ${log}`)).toBe(refused);
    expect(await attempt(owner, `SELECT remove_measurements(${SOME}, now())`, `DELETE FROM ${log}`)).toBe(
      refused,
    );
    expect(await attempt(owner, PRETEND, `UPDATE ${log} SET request_id = ''`)).toBe(refused);
    expect(await attempt(owner, PRETEND, `TRUNCATE ${log}`)).toBe(refused);
  });

  it('denies the serving role every DELETE, even if it sets mex.removing', async () => {
    for (const table of [
      'transitions',
      'audit_entries',
      'measurements',
      'requisitions',
      'measurement_tombstones',
    ]) {
      const refused = `permission denied for table ${table}`;
      expect(await attempt(app, `DELETE FROM ${table}`)).toBe(refused);
      expect(await attempt(app, PRETEND, `DELETE FROM ${table}`)).toBe(refused);
    }
    expect(
      await attempt(app, `INSERT INTO measurement_tombstones SELECT * FROM measurement_tombstones`),
    ).toMatch('permission denied');
    expect(await attempt(owner, PRETEND, 'DELETE FROM audit_entries')).toBe('audit_entries is append-only');
  });

  it('lets the serving role remove ended measurements with remove_measurements, but no pending ones', async () => {
    const pending = `(SELECT array_agg(id) FROM measurements WHERE NOT ${TERMINAL})`;
    const { rows } = await app.query(`SELECT remove_measurements(${pending}, now()) AS n`);
    expect(rows).toEqual([{ n: 0 }]);
    const terminal = await count(`measurements WHERE ${TERMINAL} AND ${OLD}`);
    const before = await count('measurement_tombstones');
    // `remove_measurements` must use the real tables, and not the caller's temporary tables with the same names.
    await app.query('CREATE TEMPORARY TABLE measurement_tombstones (LIKE public.measurement_tombstones)');
    await app.query('CREATE TEMPORARY TABLE transitions (LIKE public.transitions)');
    const removed = await app.query(`SELECT remove_measurements(${SOME}, now()) AS n`);
    expect(removed.rows).toEqual([{ n: terminal }]);
    expect(terminal).toBeGreaterThan(40);
    expect(await count('public.measurement_tombstones')).toBe(before + terminal);
  });

  it('denies remove_measurements to any other role', async () => {
    const stranger = `${ROLE}_stranger`;
    await owner.query(`CREATE ROLE ${stranger}`);
    try {
      const called = await attempt(
        owner,
        `SET LOCAL ROLE ${stranger}`,
        `SELECT remove_measurements('{}', now())`,
      );
      expect(called).toBe('permission denied for function remove_measurements');
    } finally {
      await owner.query(`DROP ROLE ${stranger}`);
    }
  });
});
