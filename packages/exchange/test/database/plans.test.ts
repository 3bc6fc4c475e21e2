/**
 * Tests the query plans of the exchange's SQL statements. The statements are prepared as in production, on tables large
 * enough to make bad plans visible.
 */

import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { COMPUTATION_STATES, MEASUREMENT_STATES, REQUISITION_STATES } from '@measurement-exchange/contract';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../../src/main.ts';
import { type BulkParty, loadDescriptors, loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { createDatabase, type Database } from '@measurement-exchange/testkit/exchange';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { shareMeasurement } from '@measurement-exchange/testkit/shareMeasurement';
import { Database as Sql, statements } from '../../src/database/db.ts';
import { CHECKS, doctor } from '../../src/database/doctor.ts';
import { audit } from '../../src/database/log.ts';
import { insertPopulation } from '../../src/database/populations.ts';
import { newPopulation } from '../../src/domain/population.ts';

const ROWS = isStress ? 10_007 : 3_007;
const CONSUMER = party('measurementConsumers/c');
const PROVIDERS = ['dataProviders/a', 'dataProviders/b', 'dataProviders/c'].map(party);
const SMALL_CONSUMER = party('measurementConsumers/small');
const SMALL_PROVIDER = party('dataProviders/small');
const SMALL_ROWS = 60;
const LARGE = [
  'measurements',
  'requisitions',
  'computations',
  'event_group_metadata_descriptors',
  'descriptor_types',
  'transitions',
  'certificates',
  'audit_entries',
  'changes',
  'reports',
  'report_measurements',
];

/**
 * The statements to test. Excludes the doctor's statements, which read whole tables, and the statements of event group
 * lists, which `eventGroups/scale.test.ts` tests.
 */
const planned = [...statements.values()].filter(
  ({ name }) => !name.startsWith('event_group_list_') && !CHECKS.some((check) => check.id === name),
);

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
  'Actual Rows'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
}

let database: Database;
let sql: Sql;
let client: pg.PoolClient;

function party(name: string): BulkParty {
  return { name, certificate: `${name}/certificates/x` };
}

beforeAll(async () => {
  database = await createDatabase();
  const named = [CONSUMER, ...PROVIDERS, SMALL_CONSUMER, SMALL_PROVIDER].map(({ name }) => name);
  // Add the named parties and a thousand duchies, with ten certificates each.
  await database.query(
    `WITH named AS (
       SELECT name, nth FROM unnest($1::text[]) WITH ORDINALITY AS n(name, nth)
        UNION ALL
       SELECT 'duchies/d' || i, 100 + i FROM generate_series(1, 1000) AS i
     ), parties AS (
       INSERT INTO parties (name, create_time, update_time) SELECT name, now(), now() FROM named
     )
     INSERT INTO certificates (party, id, x509_der, subject_key_identifier, not_before, not_after, create_time)
     SELECT name, CASE i WHEN 1 THEN 'x' ELSE 'x' || i END, int8send(nth * 100 + i), int8send(nth), now(),
            now() + interval '1 year', now()
       FROM named CROSS JOIN generate_series(1, 10) AS i`,
    [named],
  );
  await loadMeasurements(database, { consumer: CONSUMER, providers: PROVIDERS, count: ROWS });
  const file = [{ name: 'x'.repeat(200), package: 'a', messageType: [{ name: 'M' }] }];
  const descriptorSet = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
  await loadDescriptors(database, { providers: PROVIDERS, descriptorSet, count: ROWS * PROVIDERS.length });
  // Load the rows of the small parties last, so that they are the newest.
  const last = { providers: [SMALL_PROVIDER], first: 3 * ROWS, count: SMALL_ROWS };
  await loadMeasurements(database, { consumer: SMALL_CONSUMER, ...last });
  await loadDescriptors(database, { descriptorSet, ...last });
  await database.query(
    `INSERT INTO changes (party, name, kind, state, version, time)
     SELECT party, party || '/measurements/' || i, 'MEASUREMENT', 'COMPUTING', 1, now()
       FROM unnest($1::text[], $2::int[]) AS p(party, count) CROSS JOIN generate_series(1, count) AS i`,
    [
      [CONSUMER.name, SMALL_CONSUMER.name],
      [ROWS, SMALL_ROWS],
    ],
  );
  await loadReports();
  sql = new Sql({ connection: { connectionString: database.url }, applicationName: 'plans' });
  await sharePending();
  await database.query('ANALYZE');
  client = await sql.pool.connect();
  // Deallocate the statements, because the tests below prepare them again.
  await client.query('DEALLOCATE ALL');
});

afterAll(async () => {
  client?.release();
  await sql?.close();
  await database?.drop();
});

/** Creates one report for each measurement. */
async function loadReports(): Promise<void> {
  await database.query(
    `WITH r AS (
       INSERT INTO reports (consumer, id, definition, definition_hash, measurement_count, state, waiting_for, revision,
         version, create_time, update_time)
       SELECT m.consumer, m.id, '{}', sha256('a'), 1, s.state, CASE s.state WHEN 'RUNNING' THEN m.id END, 1, 1,
              m.create_time, m.create_time
         FROM measurements m CROSS JOIN LATERAL (SELECT CASE m.state WHEN 'SUCCEEDED' THEN 'COMPLETE'
           WHEN 'AWAITING_REQUISITION_FULFILLMENT' THEN 'RUNNING' WHEN 'COMPUTING' THEN 'RUNNING' ELSE 'INCOMPLETE' END) AS s(state)
        RETURNING consumer, id, create_time
     ), e AS (
       INSERT INTO report_measurements SELECT consumer, id, repeat('a', 64), 1, id FROM r
     )
     INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
     SELECT create_time, consumer, 'createReport', consumer || '/reports/' || id, 1, 'test' FROM r`,
  );
}

/**
 * Assigns the newest pending measurements to three duchies, and the other pending measurements to three other duchies.
 */
async function sharePending(): Promise<void> {
  const time = '2026-01-01T00:00:00.000000Z';
  const population = newPopulation('everybody', { vidRanges: [{ start: 1, end: 10 }] }, time);
  const entry = { time, principal: 'operator', operation: 'createPopulation', requestId: 'test' };
  await sql.tx('populate', async (tx) => {
    insertPopulation(tx, population);
    audit(tx, { ...entry, name: 'populations/everybody', version: 1 });
  });
  const rows = await database.query(
    `SELECT id FROM measurements WHERE consumer = $1 AND state = 'AWAITING_REQUISITION_FULFILLMENT'
      ORDER BY create_time, id`,
    [CONSUMER.name],
  );
  const ids = rows.map(({ id }) => id as string);
  const trio = (first: number) => ({
    firstWorker: `duchies/d${first}`,
    secondWorker: `duchies/d${first + 1}`,
    aggregator: `duchies/d${first + 2}`,
  });
  await shareMeasurement(database, ids.slice(0, -SMALL_ROWS), trio(1));
  await shareMeasurement(database, ids.slice(-SMALL_ROWS), trio(4));
}

/**
 * Explains a statement. `values` are SQL literals and default to NULL, because a generic plan does not depend on the
 * values.
 */
async function explain(name: string, options: string, values?: string[]): Promise<Plan> {
  const { text } = statements.get(name)!;
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
  const given = values ?? Array.from({ length: count }, () => 'NULL');
  await client.query(`PREPARE ${name} AS ${text}`);
  try {
    const execute = count === 0 ? name : `${name}(${given.join(', ')})`;
    const { rows } = await client.query(`EXPLAIN (${options} FORMAT JSON) EXECUTE ${execute}`);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query(`DEALLOCATE ${name}`);
  }
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

const plans = new Map<string, Plan>();

/** Returns the nodes of the plan, which is cached for all tests of the statement. */
async function nodesOf(name: string): Promise<Plan[]> {
  const plan = plans.get(name) ?? (await explain(name, ''));
  plans.set(name, plan);
  return nodes(plan);
}

describe('the plan of each statement', () => {
  it('is tested on tables with thousands of rows and without doctor findings', async () => {
    for (const table of LARGE) {
      const [row] = await database.query(`SELECT reltuples FROM pg_class WHERE oid = '${table}'::regclass`);
      expect(row!.reltuples, table).toBeGreaterThanOrEqual(ROWS - 7);
    }
    expect(await doctor({ connection: { connectionString: database.url } })).toEqual([]);
    expect(planned.length).toBeGreaterThanOrEqual(30);
  });

  it.each(planned.map(({ name }) => name))('%s has no sequential scan of a large table', async (name) => {
    const found = await nodesOf(name);
    const whole = found.filter((node) => node['Node Type'] === 'Seq Scan').map((n) => n['Relation Name']!);
    expect(whole.filter((table) => LARGE.includes(table))).toEqual([]);
  });

  // A SELECT is allowed to lock rows only if its name contains `lock` or `share`. Any other read must neither wait for
  // a write nor block one.
  const reads = planned.filter(({ text }) => !/\b(INSERT INTO|UPDATE \w+|DELETE FROM)\b/.test(text));
  it.each(reads.map(({ name }) => name))(
    '%s locks rows if and only if its name contains lock or share',
    async (name) => {
      const locks = (await nodesOf(name)).some((node) => node['Node Type'] === 'LockRows');
      expect(locks).toBe(/_(lock|share)(_|$)/.test(name));
    },
  );
});

describe('a summary', () => {
  const times = [`'2026-01-01'`, `'2026-01-02'`, `'2026-01-02 23:00'`];
  it.each([
    ['measurements', CONSUMER.name],
    ['requisitions', PROVIDERS[0]!.name],
    ['computations', 'duchies/d1'],
  ])('of %s reads at most 1,001 rows for each count, with an index scan', async (table, owner) => {
    const values = [`'${owner}'`, ...times, '1001'];
    const plan = nodes(await explain(`summary_count_${table}`, 'ANALYZE,', values));
    const scans = plan.filter((node) => node['Relation Name'] === table);
    // Require index scans, because a bitmap scan would read all rows before the limit applies.
    expect(scans.map((node) => node['Node Type'])).toEqual(scans.map(() => expect.stringMatching(/^Index/)));
    const most = Math.max(...scans.map((node) => node['Actual Rows']!));
    expect(most).toBeGreaterThan(100);
    expect(most).toBeLessThanOrEqual(1001);
  });

  it('of all parties for the operator reads at most 1,001 rows for each count, with index scans', async () => {
    const values = [`''`, times[2]!, '100', times[1]!, times[2]!, '1001'];
    const plan = nodes(await explain('party_health', 'ANALYZE,', values));
    const scans = plan.filter((node) =>
      ['measurements', 'requisitions', 'computations'].includes(node['Relation Name']!),
    );
    expect(scans.length).toBeGreaterThanOrEqual(12);
    expect(scans.map((node) => node['Node Type'])).toEqual(scans.map(() => expect.stringMatching(/^Index/)));
    expect(Math.max(...scans.map((node) => node['Actual Rows']!))).toBeLessThanOrEqual(1001);
  });

  it.each([
    ['status_count_open', ['1001']],
    ['status_count_ended', ['1001', times[0]!]],
  ])('of the exchange, %s reads at most 1,001 rows with an index scan', async (name, values) => {
    const scans = nodes(await explain(name, 'ANALYZE,', values)).filter((node) => node['Relation Name']);
    expect(scans.map((node) => node['Node Type'])).toEqual(['Index Scan']);
    expect(scans[0]!['Actual Rows']).toBe(1001);
  });

  it('reads at most 51 measurements to explain the oldest open ones', async () => {
    const plan = await explain('summary_notable_measurements', 'ANALYZE,', [
      ...[`'${CONSUMER.name}'`, times[0]!, '51', '11'],
    ]);
    const rows = nodes(plan)
      .filter((node) => node['Relation Name'] === 'measurements')
      .map((node) => node['Actual Rows']!);
    expect(Math.max(...rows)).toBeLessThanOrEqual(51);
  });
});

interface List {
  name: string;
  table: string;
  order: 'create_time' | 'update_time';
  /** The column that contains the parent's name. Undefined if the list covers the rows of all parents. */
  parent?: string;
  large: string;
  small: string;
  /**
   * The number of list pages that the rows of the large parent fill. The default is the number of full pages in ROWS
   * rows.
   */
  pages?: number;
  values: (parent: string, cursor: string[]) => string[];
}

const PAGE_SIZE = 50;
const limits = [`${PAGE_SIZE}`, `${8 * 1024 * 1024}`];
const anyTime = [`'-infinity'`, `'infinity'`];
const measurementStates = `'{${MEASUREMENT_STATES.join()}}'`;
const computationStates = `'{${COMPUTATION_STATES.join()}}'`;
const requisitionStates = `'{${REQUISITION_STATES.join()}}'`;

const lists: List[] = [
  ...(['create_time', 'update_time'] as const).flatMap((order): List[] => [
    {
      name: `measurement_list_by_${order}`,
      table: 'measurements',
      order,
      parent: 'consumer',
      large: CONSUMER.name,
      small: SMALL_CONSUMER.name,
      values: (parent, cursor) => [parent, measurementStates, ...anyTime, ...anyTime, ...cursor, ...limits],
    },
    {
      name: `requisition_list_by_${order}`,
      table: 'requisitions',
      order,
      parent: 'provider',
      large: PROVIDERS[0]!.name,
      small: SMALL_PROVIDER.name,
      values: (parent, cursor) => [parent, requisitionStates, anyTime[0]!, ...cursor, ...limits],
    },
  ]),
  {
    name: 'computation_list',
    table: 'computations',
    order: 'update_time',
    parent: 'duchy',
    large: 'duchies/d1',
    small: 'duchies/d4',
    pages: Math.floor(ROWS / PAGE_SIZE / 2),
    values: (parent, cursor) => [parent, computationStates, anyTime[0]!, ...cursor, ...limits],
  },
  {
    name: 'descriptor_list_of_provider',
    table: 'event_group_metadata_descriptors',
    order: 'create_time',
    parent: 'provider',
    large: PROVIDERS[0]!.name,
    small: SMALL_PROVIDER.name,
    values: (parent, cursor) => [...cursor, ...limits, 'true', parent],
  },
  {
    name: 'descriptor_list_all',
    table: 'event_group_metadata_descriptors',
    order: 'create_time',
    large: '',
    small: '',
    values: (_parent, cursor) => [...cursor, ...limits, 'true'],
  },
];

describe('the cost of a page', () => {
  /** Returns how many blocks PostgreSQL touches to read the page after the first `skip` rows. */
  async function blocks(list: List, parent: string, skip: number): Promise<number> {
    const { table, order } = list;
    const [row] = await database.query(
      `SELECT ${order}::text AS time, id FROM ${table} WHERE $1 IN ('', ${list.parent ?? `''`})
        ORDER BY ${order}, id OFFSET ${Math.max(0, skip - 1)} LIMIT $2`,
      [parent, skip === 0 ? 0 : 1],
    );
    const cursor = row ? [`'${row.time}'`, `'${row.id}'`] : [`'-infinity'`, `''`];
    const plan = await explain(list.name, 'ANALYZE, BUFFERS,', list.values(`'${parent}'`, cursor));
    expect(plan['Actual Rows']).toBeGreaterThanOrEqual(PAGE_SIZE);
    return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
  }

  it.each(lists)('$name: the last page reads at most 1.5 times as many blocks as the first', async (list) => {
    const first = await blocks(list, list.large, 0);
    expect(
      await blocks(list, list.large, ((list.pages ?? Math.floor(ROWS / PAGE_SIZE)) - 1) * PAGE_SIZE),
    ).toBeLessThanOrEqual(1.5 * first);
  });

  it.each(lists.filter((list) => list.parent))(
    '$name: the page of a small party reads at most 1.5 times as many blocks as that of a large party',
    async (list) => {
      const large = await blocks(list, list.large, 0);
      expect(await blocks(list, list.small, 0)).toBeLessThanOrEqual(1.5 * large);
    },
  );

  it('changes_page: the last page and that of a small party read at most 1.5 times the blocks of the first', async () => {
    // Wait until all rows are readable, because transactions of other tests may delay them.
    const held = 'SELECT FROM changes WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1';
    await expect.poll(() => database.query(held)).toEqual([]);
    const touched = async (party: string, skip: number) => {
      const [row] = await database.query(
        `SELECT xid::text, seq::text FROM changes WHERE party = $1 ORDER BY xid, seq OFFSET $2 LIMIT 1`,
        [party, skip],
      );
      const values = [`'${party}'`, `'${row!.xid}'`, `${row!.seq}`, `${PAGE_SIZE}`];
      const plan = await explain('changes_page', 'ANALYZE, BUFFERS,', values);
      expect(plan['Actual Rows']).toBe(PAGE_SIZE);
      return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
    };
    const first = await touched(CONSUMER.name, 0);
    expect(await touched(CONSUMER.name, ROWS - PAGE_SIZE - 1)).toBeLessThanOrEqual(1.5 * first);
    expect(await touched(SMALL_CONSUMER.name, 0)).toBeLessThanOrEqual(1.5 * first);
  });
});
