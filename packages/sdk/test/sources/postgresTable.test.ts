/**
 * Tests PostgreSQL tables like those of publishers, with various types, views, partitions, accounts, and hostile
 * filters.
 */
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  type Events,
  type EventsConfig,
  FilterError,
  openEvents,
  QueryStopped,
} from '../../src/provider/index.ts';
import { HOSTILE_FILTER } from '../provider/hostileFilters.ts';
import { onPostgres, publicUrl } from './postgresTables.ts';

const ROLE = `reader_${process.pid}`;
const INTERVAL = { start: new Date('2026-07-01'), end: new Date('2026-07-02') };
let database: string;
let url: string;
const admin = (sql: string) => onPostgres(url, (client) => client.query(sql));

beforeAll(async () => {
  database = `warehouse_${process.pid}`;
  await onPostgres(inject('serverUrl'), async (client) => {
    await client.query(`CREATE DATABASE ${database} TEMPLATE template0 ENCODING 'UTF8'`);
    await client.query(`CREATE ROLE ${ROLE} LOGIN`);
  });
  const parsed = new URL(inject('serverUrl'));
  parsed.pathname = `/${database}`;
  url = parsed.href;
});
afterAll(() =>
  onPostgres(inject('serverUrl'), async (client) => {
    await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await client.query(`DROP ROLE ${ROLE}`);
  }),
);

const open = (changes: Partial<EventsConfig> = {}) =>
  openEvents({
    source: { kind: 'postgres', url: publicUrl(url), table: 'ads.events', user: ROLE },
    ...changes,
  });

/** Creates a schema with one table or view, and lets the account read it. */
async function create(sql: string): Promise<void> {
  await admin(`DROP SCHEMA IF EXISTS ads CASCADE; CREATE SCHEMA ads; GRANT USAGE ON SCHEMA ads TO ${ROLE}; ${sql};
    GRANT SELECT ON ads.events TO ${ROLE}`);
}

async function using<T>(work: (events: Events) => Promise<T>, changes?: Partial<EventsConfig>): Promise<T> {
  const events = await open(changes);
  try {
    return await work(events);
  } finally {
    await events.close();
  }
}

const impressions = (events: Events, filter: string) =>
  events.impressions(
    { eventGroups: [{ reference: 'g', interval: INTERVAL, filter }], vidSampling: { start: 0, width: 1 } },
    100,
  );

const EVENT = `1 AS vid, TIMESTAMPTZ '2026-07-01 12:00+00' AS timestamp, text 'g' AS event_group`;

describe('the types of columns', () => {
  it('map to the types of attributes, also for domains and enums', async () => {
    await create(`CREATE TYPE ads.device AS ENUM ('tv', 'phone'); CREATE DOMAIN ads.age AS int CHECK (VALUE > 0);
      CREATE TABLE ads.events (vid int4, timestamp timestamptz, event_group varchar(20), device ads.device, age ads.age,
        code char(5), small int2, price numeric(12,2), loose numeric, weight numeric(20), rate float4, day date,
        seen timestamp, tags text[], payload jsonb, duration interval)`);
    await using(async ({ attributes, hasDuration }) => {
      expect({ ...attributes }).toEqual({
        ...{ device: 'string', age: 'int', code: 'string', small: 'int', price: 'double', weight: 'uint' },
        ...{ rate: 'double', day: 'timestamp', seen: 'timestamp' },
      });
      expect(hasDuration).toBe(true);
    });
    await expect(open({ columns: { attributes: ['loose'] } })).rejects.toThrow(
      'columns.attributes: "loose" is numeric, and must be text, a boolean, a number such as numeric(12,2)',
    );
    await expect(open({ columns: { vid: 'price' } })).rejects.toThrow(
      'columns.vid: "price" is numeric(12,2)',
    );
    await expect(open({ columns: { eventGroup: 'tags' } })).rejects.toThrow(
      'columns.eventGroup: "tags" is text[]',
    );
    await expect(open({ columns: { duration: 'seen' } })).rejects.toThrow(
      'columns.duration: "seen" is timestamp',
    );
    await expect(open({ columns: { count: 'price' } })).rejects.toThrow(
      'columns.count: "price" is numeric(12,2)',
    );
  });

  it.each([
    [`code == 'ab'`, `char(5) 'ab' AS code`, 1n],
    [`code == 'AB'`, `(text 'ab' COLLATE ads.loose) AS code`, 0n],
    [`code.contains('B')`, `(text 'ab' COLLATE ads.loose) AS code`, 0n],
    [`code < 'b'`, `text 'B' AS code`, 1n],
    [`code == other`, `(text 'ab' COLLATE ads.loose) AS code, (text 'AB' COLLATE ads.loose) AS other`, 0n],
    [`code != other`, `(text 'ab' COLLATE ads.loose) AS code, text 'AB' AS other`, 1n],
    [`seen != null`, `timestamp 'infinity' AS seen`, 0n],
    [`seen != null`, `date '5000000-01-01' AS seen`, 0n],
    [`seen == timestamp('2026-07-01T22:00:00Z')`, `timestamptz '2026-07-02 00:00+02' AS seen`, 1n],
    [`seen.getHours() == 22`, `timestamptz '2026-07-02 00:00+02' AS seen`, 1n],
    [`weight != null`, `numeric(20) '99999999999999999999' AS weight`, 0n],
    [`weight == 18446744073709551615u`, `numeric(20) '18446744073709551615' AS weight`, 1n],
    [`string(weight) == '18446744073709551615'`, `numeric(20) '18446744073709551615' AS weight`, 1n],
    [`code == 'a\\u0000'`, `text 'a' AS code`, 0n],
    [`code != 'a\\u0000'`, `text 'a' AS code`, 1n],
    [`code.matches('^a.$')`, `text 'a😀' AS code`, 1n],
    [`size(code) == 2 && code.endsWith('😀')`, `text 'a😀' AS code`, 1n],
  ])('are compared as in CEL by the filter %s on %s', async (filter, column, expected) => {
    await create(`CREATE COLLATION ads.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE ads.events AS SELECT ${EVENT}, ${column}`);
    expect(await using((events) => impressions(events, filter))).toBe(expected);
  });

  it.each([
    [`interval '1.5 seconds'`, 1500n],
    [`numeric '1e400'`, 2n ** 53n],
    [`numeric '1e-400'`, 0n],
    [`numeric 'NaN'`, 0n],
    [`numeric '2.5'`, 2500n],
    [`float8 '0.0005'`, 1n],
    [`float8 '1e300'`, 2n ** 53n],
    [`float8 'Infinity'`, 2n ** 53n],
    [`float8 'NaN'`, 0n],
    [`int8 '9223372036854775807'`, 2n ** 53n],
    [`-5`, 0n],
  ])('a duration of %s is %s ms', async (duration, expected) => {
    await create(`CREATE TABLE ads.events AS SELECT ${EVENT}, ${duration} AS duration`);
    const eventGroups = [{ reference: 'g', interval: INTERVAL }];
    const query = { eventGroups, vidSampling: { start: 0, width: 1 } };
    expect(await using((events) => events.watchDurationMillis(query, 2n ** 62n))).toBe(expected);
  });

  it('can be integers for references, which match by their decimal text', async () => {
    await create(
      `CREATE TABLE ads.events AS SELECT 1 AS vid, TIMESTAMPTZ '2026-07-01' AS timestamp, 7 AS event_group`,
    );
    await using(async (events) => {
      const count = (reference: string) =>
        events.impressions(
          { eventGroups: [{ reference, interval: INTERVAL }], vidSampling: { start: 0, width: 1 } },
          1,
        );
      expect(await count('7')).toBe(1n);
      for (const other of ['07', '+7', '7.0', '', 'x', '9999999999999999999', '7\0', '\ud800']) {
        expect(await count(other)).toBe(0n);
      }
    });
  });
});

describe('a table', () => {
  it('can be partitioned, and can be a view', async () => {
    await create(`CREATE TABLE ads.events (vid int8, timestamp timestamptz, event_group text) PARTITION BY RANGE (timestamp);
      CREATE TABLE ads.july PARTITION OF ads.events FOR VALUES FROM ('2026-07-01') TO ('2026-08-01');
      GRANT SELECT ON ads.july TO ${ROLE}; INSERT INTO ads.events SELECT ${EVENT}`);
    expect(await using((events) => impressions(events, ''))).toBe(1n);
    await create(
      `CREATE TABLE ads.base AS SELECT ${EVENT}; CREATE VIEW ads.events AS SELECT * FROM ads.base`,
    );
    expect(await using((events) => impressions(events, ''))).toBe(1n);
  });

  it('can have column names that need quotes, or that the statements also use', async () => {
    await create(
      `CREATE TABLE ads.events AS SELECT ${EVENT}, 'x' AS "a ""b", 2 AS v0, 3 AS events, 4 AS row_number, 5 AS e`,
    );
    const filter = `v0 + events + row_number == 9`;
    expect(await using((events) => impressions(events, filter))).toBe(1n);
  });

  it('hides columns that the account may not read', async () => {
    await create(`CREATE TABLE ads.events AS SELECT ${EVENT}, 1 AS age, 2 AS secret`);
    await admin(
      `REVOKE ALL ON ads.events FROM ${ROLE}; GRANT SELECT (vid, timestamp, event_group, age) ON ads.events TO ${ROLE}`,
    );
    await using(async (events) => {
      expect(Object.keys(events.attributes)).toEqual(['age']);
      await events.verify();
    });
  });
});

describe('an account', () => {
  const grantable = async () =>
    create(`CREATE TABLE ads.events AS SELECT ${EVENT}; CREATE TABLE ads.other (a int)`);
  it.each([
    [
      'may change the table',
      `GRANT INSERT ON ads.events TO ${ROLE}`,
      'can change ads.events',
      `REVOKE INSERT ON ads.events FROM ${ROLE}`,
    ],
    [
      'may read another table',
      `GRANT SELECT ON ads.other TO ${ROLE}`,
      'can also use ads.other',
      `REVOKE SELECT ON ads.other FROM ${ROLE}`,
    ],
    [
      'may create tables',
      `GRANT CREATE ON SCHEMA ads TO ${ROLE}`,
      'can create tables in the schema ads',
      `REVOKE CREATE ON SCHEMA ads FROM ${ROLE}`,
    ],
    [
      'may create accounts',
      `ALTER ROLE ${ROLE} CREATEROLE`,
      'is an administrator',
      `ALTER ROLE ${ROLE} NOCREATEROLE`,
    ],
    [
      'is a superuser',
      `ALTER ROLE ${ROLE} SUPERUSER`,
      'is an administrator',
      `ALTER ROLE ${ROLE} NOSUPERUSER`,
    ],
    [
      'may read everything',
      `GRANT pg_read_all_data TO ${ROLE}`,
      'is a member of pg_read_all_data',
      `REVOKE pg_read_all_data FROM ${ROLE}`,
    ],
    [
      'may not read the table',
      `REVOKE ALL ON ads.events FROM ${ROLE}`,
      'there is no "ads"."events" that the account may read',
      `GRANT SELECT ON ads.events TO ${ROLE}`,
    ],
    [
      'may not use the schema',
      `REVOKE ALL ON SCHEMA ads FROM ${ROLE}`,
      'grant it SELECT',
      `GRANT USAGE ON SCHEMA ads TO ${ROLE}`,
    ],
  ])('is rejected if it %s', async (_what, give, message, take) => {
    await grantable();
    await using(async () => {});
    await admin(give);
    try {
      await expect(open()).rejects.toThrow(message);
    } finally {
      await admin(take);
    }
    await using((events) => events.verify());
  });

  it('does not change results by its default time zone, search path or precision', async () => {
    await create(
      `CREATE TABLE ads.events AS SELECT ${EVENT}, float8 '0.1' + 0.2 AS d, timestamptz '2026-07-01 23:00+00' AS seen`,
    );
    await admin(`ALTER ROLE ${ROLE} SET TimeZone = 'Asia/Tokyo'; ALTER ROLE ${ROLE} SET extra_float_digits = -5;
      ALTER ROLE ${ROLE} SET DateStyle = 'German'; ALTER ROLE ${ROLE} SET search_path = ads;
      CREATE FUNCTION ads.starts_with(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'`);
    try {
      await using(async (events) => {
        expect(await impressions(events, 'd == 0.1 + 0.2 && string(d).size() > 10')).toBe(1n);
        expect(await impressions(events, `string(seen).startsWith('2026-07-01T23')`)).toBe(1n);
        expect((await events.inventory())[0]).toMatchObject({
          firstDay: '2026-07-01',
          lastDay: '2026-07-01',
        });
      });
    } finally {
      await admin(`ALTER ROLE ${ROLE} RESET ALL`);
    }
  });
});

describe('hostile filters', () => {
  let events: Events;
  beforeAll(async () => {
    await create(`CREATE TABLE ads.events AS SELECT v AS vid, TIMESTAMPTZ '2026-07-01' AS timestamp, text 'g' AS event_group,
      repeat('ab', v % 50) AS s, chr(97 + v % 26) AS t, v::int8 AS i, v / 7.0::float8 AS d, v % 2 = 0 AS b,
      TIMESTAMP '2026-07-01' + v * interval '1 hour' AS at FROM generate_series(0, 59) AS v`);
    events = await open();
  });
  afterAll(() => events.close());

  it('are rejected, stopped or counted, and make no statement fail', async () => {
    await fc.assert(
      fc.asyncProperty(HOSTILE_FILTER, async (filter) => {
        const outcome = await impressions(events, filter).catch((error: Error) => error);
        if (typeof outcome === 'bigint' || outcome instanceof FilterError || outcome instanceof QueryStopped)
          return;
        throw outcome;
      }),
      { numRuns: rounds(1500, 25) },
    );
  });

  it('are counted or rejected if they are deeply nested', async () => {
    const nested = (open: string, close: string, n: number) => `${open.repeat(n)}b${close.repeat(n)}`;
    for (const n of [20, 40, 80]) {
      for (const [before, after] of [
        ['!(', ')'],
        ['(b ? ', ' : b)'],
        [`s.endsWith((`, ` ? 'a' : 'b'))`],
      ] as const) {
        const outcome = await impressions(events, nested(before, after, n)).catch((error: Error) => error);
        if (typeof outcome !== 'bigint') expect(outcome).toBeInstanceOf(FilterError);
      }
    }
  });
});

it('a count uses an index on reference and time', async () => {
  await create(`CREATE TABLE ads.events AS SELECT v AS vid, TIMESTAMPTZ '2026-07-01' + v * interval '1 minute' AS timestamp,
      'g' || v % 100 AS event_group FROM generate_series(1, 50000) AS v;
    CREATE INDEX ON ads.events (event_group, timestamp)`);
  await admin('VACUUM ANALYZE ads.events');
  const query = {
    eventGroups: [{ reference: 'g7', interval: INTERVAL }],
    vidSampling: { start: 0, width: 1 },
  };
  expect(await using((events) => events.frequencies(query, 1))).toEqual([15n]);
  // Poll, because the server publishes its statistics some time after a connection has ended.
  const scans = async () => (await admin('SELECT idx_scan FROM pg_stat_user_indexes')).rows[0].idx_scan;
  await expect.poll(scans, { timeout: 20_000 }).toBe('1');
});
