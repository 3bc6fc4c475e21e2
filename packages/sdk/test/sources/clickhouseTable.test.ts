/**
 * Tests which ClickHouse tables, accounts and settings are accepted, and that counts from the accepted tables are
 * right.
 */
import { skipped } from '@measurement-exchange/testkit/clickhouse/server';
import { describe, expect, it } from 'vitest';
import type { ClickHouseSource } from '../../src/provider/events/clickhouse/source.ts';
import { type Events, openEvents } from '../../src/provider/events.ts';
import { loadTable, testServer } from './clickhouse.ts';
import { startFaultyProxy } from './faultyProxy.ts';
import type { TestTable } from './testSource.ts';

const NOON = BigInt(Date.UTC(2024, 0, 1, 12)) * 1000n;
const INTERVAL = { start: new Date('2024-01-01'), end: new Date('2024-01-02') };
const QUERY = { eventGroups: [{ reference: 'g', interval: INTERVAL }], vidSampling: { start: 0, width: 1 } };

const tableOf = (rows: [vid: bigint | null, device: string][]): TestTable => ({
  columns: [
    { name: 'vid', type: 'int', nullable: true },
    { name: 'timestamp', type: 'timestamp', nullable: false },
    { name: 'event_group', type: 'string', nullable: false },
    { name: 'device', type: 'string', nullable: false },
  ],
  rows: rows.map(([vid, device]) => [vid, NOON, 'g', device]),
});
const ORDER = 'ORDER BY (event_group, vid) SETTINGS allow_nullable_key = 1';
const PEOPLE = tableOf(
  Array.from({ length: 3000 }, (_, i) => [i % 100 === 0 ? null : BigInt(i % 997) - 400n, 'tv']),
);

async function withEvents<T>(
  table: TestTable,
  { layout, ...settings }: Partial<ClickHouseSource> & { layout?: string },
  work: (events: Events) => Promise<T>,
): Promise<T> {
  const { where, remove } = await loadTable(table, layout);
  try {
    const events = await openEvents({ source: { ...where.source, ...settings } });
    try {
      return await work(events);
    } finally {
      await events.close();
    }
  } finally {
    await remove();
  }
}

async function figuresOf(events: Events) {
  const people: string[] = [];
  const query = { ...QUERY, vidSampling: { start: 0.1, width: 0.7 } };
  await events.allPeople(query, 255, (vids, frequencies) => {
    for (const [i, vid] of vids.entries()) people.push(`${vid} × ${frequencies[i]}`);
  });
  return {
    people: people.sort(),
    sum: await events.impressions(query, 2),
    counts: await events.frequencies(query, 3),
  };
}

describe.skipIf(skipped !== undefined)(`an event source on ClickHouse (${skipped ?? 'tables'})`, () => {
  it('counts the same in one pass and in seven', async () => {
    const once = await withEvents(PEOPLE, {}, figuresOf);
    expect(once.people.length).toBeGreaterThan(500);
    expect(once.people.filter((person) => person.endsWith('× 0'))).toEqual(['0 × 0']);
    expect(await withEvents(PEOPLE, { passes: 7 }, figuresOf)).toEqual(once);
  });

  it('stops a query that reads more rows than rowLimit, and counts one that does not', async () => {
    const impressions = (events: Events) => events.impressions(QUERY, 5);
    await expect(withEvents(PEOPLE, { rowLimit: 2999 }, impressions)).rejects.toThrow(
      'gave up with TOO_MANY_ROWS (158). It reads too many rows: raise events.source.rowLimit',
    );
    expect(await withEvents(PEOPLE, { rowLimit: 3000 }, impressions)).toBeGreaterThan(2000n);
  });

  it('treats a configured value of a column that is not nullable as absent', async () => {
    const table = tableOf([
      [1n, ''],
      [2n, 'tv'],
      [3n, ''],
    ]);
    const eventGroups = [{ reference: 'g', interval: INTERVAL, filter: 'device == null' }];
    const absent = (events: Events) => events.frequencies({ ...QUERY, eventGroups }, 1);
    expect(await withEvents(table, {}, absent)).toEqual([0n]);
    expect(await withEvents(table, { absent: { device: '' } }, absent)).toEqual([2n]);
    await expect(withEvents(table, { absent: { phone: '' } }, absent)).rejects.toThrow('absent');
  });

  it('counts replaced rows once with final, and rejects the table without it', async () => {
    const layout = `ENGINE = ReplacingMergeTree ${ORDER}`;
    const table = tableOf([
      [1n, 'a'],
      [1n, 'b'],
      [2n, 'c'],
    ]);
    const impressions = (events: Events) => events.impressions(QUERY, 5);
    await expect(withEvents(table, { layout }, impressions)).rejects.toThrow('events.source.final');
    expect(await withEvents(table, { layout, final: true }, impressions)).toBe(2n);
  });

  it.each(['SummingMergeTree', 'AggregatingMergeTree'])('rejects the table engine %s', async (engine) => {
    const layout = `ENGINE = ${engine} ${ORDER}`;
    for (const final of [true, false]) {
      await expect(withEvents(tableOf([]), { layout, final }, figuresOf)).rejects.toThrow(engine);
    }
  });

  it.skipIf(process.env.CLICKHOUSE_URL)(
    'rejects an account that can write, and a wrong password',
    async () => {
      const { user, password } = (await testServer()).server.writer;
      const writer = { user, password: async () => password };
      await expect(withEvents(tableOf([]), writer, figuresOf)).rejects.toThrow('can do more than read');
      const wrong = withEvents(tableOf([]), { password: async () => 'wrong-secret' }, figuresOf);
      await expect(wrong).rejects.toThrow('AUTHENTICATION_FAILED (516)');
      await expect(wrong).rejects.not.toThrow('wrong-secret');
    },
  );

  it('rejects a server that does not apply a limit, or that treats text or time differently', async () => {
    const { server } = await testServer();
    const proxy = await startFaultyProxy(server.url);
    const open = () => withEvents(tableOf([]), { url: proxy.url }, async () => {});
    proxy.rewrite = (sql) =>
      sql.replace('SELECT name, value FROM', "SELECT name, if(name = 'max_memory_usage', '0', value) FROM");
    await expect(open()).rejects.toThrow('The setting max_memory_usage is 0 on the server');
    proxy.rewrite = (sql) => sql.replace('toDateTime(0)', "toDateTime(0, 'Asia/Tokyo')");
    await expect(open()).rejects.toThrow('the time zone');
    proxy.rewrite = (sql) => sql.replace('lengthUTF8', 'length');
    await expect(open()).rejects.toThrow('text in bytes and code points');
    proxy.rewrite = undefined;
    await open();
    await proxy.stop();
  });

  it.each([
    [{ url: 'http://warehouse.internal:8123' }, 'must begin with https'],
    [{ url: 'https://u:p@warehouse.internal' }, 'without a user'],
    [{ table: 'a; DROP TABLE b' }, 'events.source.table'],
    [{ table: 'nothing_here' }, 'events.source.table'],
    [{ passes: 0 }, 'events.source.passes'],
    [{ rowLimit: 0.5 }, 'events.source.rowLimit'],
    [{ memoryLimit: 'much' }, 'events.source.memoryLimit'],
  ])('names the invalid setting in its error: %o', async (settings, message) => {
    await expect(withEvents(tableOf([]), settings, async () => {})).rejects.toThrow(message);
  });
});
