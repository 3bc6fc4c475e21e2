/**
 * Tests lists that are read from a table of 20,000 event groups, or 100,000 in `npm run stress`. Checks the query plans
 * and the costs of the statements that the exchange runs.
 */

import { createDatabase, type Database } from '@measurement-exchange/testkit/exchange';
import { isStress } from '@measurement-exchange/testkit/rounds';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database as Sql } from '../../src/database/db.ts';
import {
  cursorOf,
  type EventGroupListQuery,
  type EventGroupOrder,
  listEventGroups,
  listStatement,
} from '../../src/database/eventGroupList.ts';

const ROWS = isStress ? 100_000 : 20_000;
const PAGE_SIZE = 50;
/**
 * The number of rows that a test skips to measure a page in the middle of a list. Tests of lists with fewer rows skip
 * fewer rows.
 */
const DEEP = ROWS / 2 - PAGE_SIZE;
const PROVIDER = 'dataProviders/large';
const CONSUMER = 'measurementConsumers/large';

let database: Database;
let sql: Sql;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(
    `INSERT INTO parties (name, create_time, update_time)
     SELECT name, now(), now() FROM unnest($1::text[]) AS name
      UNION ALL SELECT 'measurementConsumers/c' || i, now(), now() FROM generate_series(0, 9) AS i
      UNION ALL SELECT 'dataProviders/p' || i, now(), now() FROM generate_series(0, 9) AS i`,
    [[PROVIDER, CONSUMER]],
  );
  // Drop the indexes before loading the rows, because building an index from existing rows is three times as fast as
  // updating it row by row.
  const indexes = await database.query(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
      WHERE tablename = 'event_groups' AND indexdef NOT LIKE 'CREATE UNIQUE %'`,
  );
  for (const { name } of indexes) await database.query(`DROP INDEX ${name}`);
  // Drop the foreign keys, because checking them for each row would take as long as writing the row. All parties exist.
  await database.query(`ALTER TABLE event_groups
    DROP CONSTRAINT event_groups_provider_fkey, DROP CONSTRAINT event_groups_consumer_fkey`);
  // Three in five event groups belong to both large parties, and each of the others belongs to one of the two. One in
  // twenty is deleted and has no names. One in ten has no availability, and five in ten have an availability start but
  // no end. "campaign" occurs in every campaign name, "fresh" in two of three, and "rare" in one of 300.
  await database.query(`
    INSERT INTO event_groups (id, provider, consumer, media_types, availability_start, availability_end, brand_name,
           campaign_name, metadata_ciphertext, metadata_cipher_url, key_type, key_data, state, version, create_time,
           update_time)
    SELECT 'e' || md5(i::text), CASE i % 5 WHEN 0 THEN 'dataProviders/p' || i % 10 ELSE '${PROVIDER}' END,
           CASE i % 5 WHEN 1 THEN 'measurementConsumers/c' || i % 10 ELSE '${CONSUMER}' END,
           CASE i % 3 WHEN 0 THEN '{VIDEO,OTHER}' WHEN 1 THEN '{DISPLAY}' ELSE '{VIDEO}' END::text[],
           CASE WHEN i % 10 > 0 THEN '2025-01-01Z'::timestamptz + (i * 7919) % 365 * interval '1 day' END,
           CASE WHEN i % 10 > 5 THEN '2026-01-01Z'::timestamptz + (i * 7919) % 365 * interval '1 day' END,
           CASE WHEN i % 20 > 0 THEN 'brand' || i % 1000 END,
           CASE WHEN i % 20 > 0 THEN 'campaign ' || CASE WHEN i % 3 > 0 THEN 'fresh ' ELSE '' END
             || CASE WHEN i % 300 = 3 THEN 'rare' ELSE '' END END,
           CASE WHEN i % 20 > 0 THEN decode(repeat(md5(i::text), 8), 'hex') END, CASE WHEN i % 20 > 0 THEN 'x' END,
           CASE WHEN i % 20 > 0 THEN 'x' END, CASE WHEN i % 20 > 0 THEN '\\x01'::bytea END,
           CASE i % 20 WHEN 0 THEN 'DELETED' ELSE 'ACTIVE' END, 1, created, created
      FROM generate_series(1, ${ROWS}) AS i,
           LATERAL (SELECT '2026-01-01Z'::timestamptz + i / 10 * interval '1 millisecond' AS created) AS times`);
  for (const { definition } of indexes) await database.query(definition as string);
  await database.query('VACUUM ANALYZE event_groups');
  sql = new Sql({ connection: { connectionString: database.url }, applicationName: 'scale' });
  client = await sql.pool.connect();
});

afterAll(async () => {
  client?.release();
  await sql?.close();
  await database?.drop();
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
  'Actual Rows'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/**
 * Returns the plan of the query's prepared statement. The connection sets `plan_cache_mode=force_generic_plan`, so the
 * plan does not depend on the values.
 */
async function explain(query: EventGroupListQuery, options = ''): Promise<Plan> {
  const { statement, values } = listStatement(query);
  await client.query(`PREPARE explained AS ${statement.text}`);
  try {
    const execute = `EXECUTE explained(${values.map(literal).join(', ')})`;
    const { rows } = await client.query(`EXPLAIN (${options} FORMAT JSON) ${execute}`);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('DEALLOCATE explained');
  }
}

function literal(value: unknown): string {
  const text = Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join()}}` : String(value);
  return pg.escapeLiteral(text);
}

const START = { time: '-infinity', id: '' };
const END = { time: 'infinity', id: '' };

function query(side: 'provider' | 'consumer', order: EventGroupOrder, filters: object): EventGroupListQuery {
  return {
    side,
    party: side === 'provider' ? PROVIDER : CONSUMER,
    states: ['ACTIVE'],
    order,
    after: order === 'start_desc' ? END : START,
    limit: PAGE_SIZE,
    maxBytes: 8 * 1024 * 1024,
    ...filters,
  };
}

const SIDES = ['provider', 'consumer'] as const;
const ORDERS = ['create', 'start', 'start_desc'] as const;
const FILTERS = {
  parties: ['measurementConsumers/large', 'dataProviders/large'],
  mediaTypes: ['VIDEO', 'NATIVE'],
  start: { from: '2025-03-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
  end: { from: '2026-02-01T00:00:00Z', to: 'infinity' },
  words: ['fresh', 'brand'],
};
type Filter = keyof typeof FILTERS;
const names = Object.keys(FILTERS) as Filter[];

describe('every combination of filters', () => {
  const combinations = Array.from({ length: 2 ** names.length }, (_, bits) =>
    Object.fromEntries(names.filter((_, i) => bits & (1 << i)).map((name) => [name, FILTERS[name]])),
  );

  it('has a separate statement, whose plan has no sequential scan', async () => {
    const seen = new Set<string>();
    for (const side of SIDES) {
      for (const order of ORDERS) {
        for (const filters of combinations) {
          const q = query(side, order, filters);
          const { statement } = listStatement(q);
          expect(statement.name.length, statement.name).toBeLessThanOrEqual(63);
          expect(seen.has(statement.name)).toBe(false);
          seen.add(statement.name);
          const found = nodes(await explain(q));
          expect(
            found.filter((n) => n['Node Type'] === 'Seq Scan'),
            statement.name,
          ).toEqual([]);
          const used = found.flatMap((n) => n['Index Name'] ?? []);
          const isSearch = 'words' in filters;
          expect(used.includes('event_groups_by_search'), statement.name).toBe(isSearch);
        }
      }
    }
    expect(seen.size).toBe(192);
  });
});

describe('a page', () => {
  interface Cost {
    blocks: number;
    milliseconds: number;
  }

  /** Returns the cost of a page, which must be full. */
  async function cost(q: EventGroupListQuery): Promise<Cost> {
    const plan = await explain(q, 'ANALYZE, BUFFERS, TIMING OFF,');
    expect(plan['Actual Rows']).toBe(PAGE_SIZE);
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const started = performance.now();
      await listEventGroups(sql, q);
      times.push(performance.now() - started);
    }
    return {
      blocks: plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!,
      // Use the fastest of five runs, because it is least affected by other work on the machine.
      milliseconds: Math.min(...times),
    };
  }

  /** Returns the query for the same list after its first `skip` rows. */
  async function behind(q: EventGroupListQuery, skip: number): Promise<EventGroupListQuery> {
    const { statement, values } = listStatement({ ...q, limit: skip, maxBytes: Number.MAX_SAFE_INTEGER });
    const text = `SELECT * FROM (${statement.text}) AS walked ORDER BY nth DESC LIMIT 1`;
    const [last] = await sql.query({ ...statement, name: `last_of_${statement.name}`, text }, values);
    expect(Number(last!.nth)).toBe(skip);
    return { ...q, after: cursorOf(last!.item, q.order) };
  }

  const cases: [string, EventGroupListQuery, number][] = [
    ...SIDES.flatMap((side) =>
      ORDERS.map((order): [string, EventGroupListQuery, number] => [
        `of the ${side} by ${order}`,
        query(side, order, {}),
        DEEP,
      ]),
    ),
    ['with deleted event groups', query('provider', 'create', { states: ['ACTIVE', 'DELETED'] }), DEEP],
    ['of some consumers', query('provider', 'create', { parties: FILTERS.parties }), DEEP],
    ['of some providers', query('consumer', 'create', { parties: FILTERS.parties }), DEEP],
    ['of some media types', query('provider', 'create', { mediaTypes: FILTERS.mediaTypes }), (2 / 5) * ROWS],
    ['with a range of start times', query('provider', 'create', { start: FILTERS.start }), DEEP],
    ['with a range of end times', query('provider', 'create', { end: FILTERS.end }), DEEP],
    [
      'with common search words',
      query('provider', 'create', { words: ['campaign', 'fresh'] }),
      (2 / 5) * ROWS,
    ],
  ];

  it.each(cases)(
    '%s reads at most twice as many blocks deep in the list as at the start',
    async (title, q, depth) => {
      const first = await cost(q);
      const deep = await cost(await behind(q, depth));
      const line = ({ blocks, milliseconds }: Cost) => `${blocks} blocks ${milliseconds.toFixed(1)} ms`;
      console.log(`${title}: page 1 ${line(first)}, page ${depth / PAGE_SIZE + 1} ${line(deep)}`);
      expect(deep.blocks).toBeLessThanOrEqual(2 * first.blocks);
      expect(first.blocks).toBeLessThanOrEqual(2 * deep.blocks);
      // A search is excluded, because it reads all matching rows. Every other list reads at most 10 blocks for each row.
      if (q.words === undefined) expect(first.blocks).toBeLessThanOrEqual(10 * PAGE_SIZE);
    },
  );

  it('with a rare search word reads at most 10 blocks for each matching row', async () => {
    const blocks = async (word: string, limit: number) => {
      const q = query('provider', 'create', { words: [word], limit });
      const plan = await explain(q, 'ANALYZE, BUFFERS,');
      expect(plan['Actual Rows']).toBe(limit);
      return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
    };
    expect(await blocks('rar', 10)).toBeLessThan((await blocks('campaign', 10)) / 4);
    // The word "rare" occurs in one of 300 rows. A search reads at most 10 blocks for each matching row.
    expect(await blocks('rar', PAGE_SIZE)).toBeLessThanOrEqual((10 * ROWS) / 300);
  });

  it('of a small party reads at most twice as many blocks as one of a large party', async () => {
    const large = await cost(query('consumer', 'create', {}));
    const small = await cost({ ...query('consumer', 'create', {}), party: 'measurementConsumers/c1' });
    expect(small.blocks).toBeLessThanOrEqual(2 * large.blocks);
  });
});
