import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask as askOn, type Statement } from '../src/sql/preparedQuery.ts';
import { createDatabase, type Database as TestDatabase } from './harness.ts';

let database: TestDatabase;
let client: pg.Client;
let described: string[];

beforeAll(async () => {
  database = await createDatabase();
  await database.query('CREATE TABLE kept (n int)');
});
afterAll(() => database.drop());

async function connected(pipeline: boolean, types?: pg.CustomTypesConfig): Promise<void> {
  client = new pg.Client({
    connectionString: database.url,
    pipeline,
    ...(types && { types }),
  } as pg.ClientConfig);
  await client.connect();
  described = [];
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  for (const answer of ['rowDescription', 'noData']) connection.on(answer, () => described.push(answer));
}

const ask = (statement: Statement, values: unknown[] = []) => askOn(client, statement, values);

const COLUMNS = {
  name: 'columns',
  text: `SELECT $1::text AS text, NULL AS none, '\\xc0de'::bytea AS bytes, 7 AS "it's \\ ""quoted"""
         FROM generate_series(1, $2::int)`,
};
const row = (text: string) => ({
  text,
  none: null,
  bytes: Buffer.from('c0de', 'hex'),
  'it\'s \\ "quoted"': 7,
});

for (const pipeline of [true, false]) {
  test(`a statement is described once on a connection, and its rows are the same after (pipeline ${pipeline})`, async () => {
    await connected(pipeline);
    expect(await ask(COLUMNS, ['a', 1])).toEqual([row('a')]);
    expect(described).toEqual(['rowDescription']);
    expect(await ask(COLUMNS, ['b', 2])).toEqual([row('b'), row('b')]);
    expect(await ask(COLUMNS, ['c', 0])).toEqual([]);
    expect(described).toEqual(['rowDescription']);
    await client.end();
  });
}

test('uses that are under way before the first is described are described themselves', async () => {
  await connected(true);
  const answers = await Promise.all(['a', 'b', 'c'].map((text) => ask(COLUMNS, [text, 1])));
  expect(answers).toEqual([[row('a')], [row('b')], [row('c')]]);
  expect(described).toHaveLength(3);
  await client.end();
});

test('a statement without rows is described once as well', async () => {
  await connected(true);
  const keep = { name: 'keep', text: 'INSERT INTO kept VALUES ($1)' };
  for (const n of [1, 2, 3]) expect(await ask(keep, [n])).toEqual([]);
  expect(described).toEqual(['noData']);
  expect(await database.query('SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  await client.end();
});

test('what the server refuses fails by its reason, before and after the statement is known', async () => {
  await connected(true);
  const divide = { name: 'divide', text: 'SELECT 12 / $1::int AS result' };
  const byZero = { code: '22012' };
  await expect(ask(divide, [0])).rejects.toMatchObject(byZero);
  expect(await ask(divide, [4])).toEqual([{ result: 3 }]);
  const [refused, good] = await Promise.allSettled([ask(divide, [0]), ask(divide, [3])]);
  expect(refused).toMatchObject({ status: 'rejected', reason: byZero });
  expect(good).toEqual({ status: 'fulfilled', value: [{ result: 4 }] });
  await client.end();
});

test('a value that cannot be read fails its statement alone', async () => {
  const getTypeParser = ((oid: number) => (text: string) => {
    if (text === 'unreadable') throw new Error('unreadable');
    return oid === 25 ? text : null;
  }) as pg.CustomTypesConfig['getTypeParser'];
  await connected(true, { getTypeParser });
  const echo = { name: 'echo', text: 'SELECT $1::text AS text' };
  const answers = await Promise.allSettled(['a', 'unreadable', 'b'].map((text) => ask(echo, [text])));
  expect(answers).toMatchObject([
    { value: [{ text: 'a' }] },
    { reason: { message: 'unreadable' } },
    { value: [{ text: 'b' }] },
  ]);
  await client.end();
});

test('bytes in an array arrive as they were, among absent and empty ones', async () => {
  await connected(true);
  const unnest = { name: 'unnest', text: 'SELECT item FROM unnest($1::bytea[]) AS item' };
  const items = [Buffer.from([0, 0x5c, 0x22, 0xff]), null, Buffer.alloc(0), randomBytes(70_000)];
  for (const _ of [1, 2]) expect(await ask(unnest, [items])).toEqual(items.map((item) => ({ item })));
  expect(await ask(unnest, [[undefined, Uint8Array.of(7)]])).toEqual([
    { item: null },
    { item: Buffer.of(7) },
  ]);
  expect(await ask(unnest, [[null]])).toEqual([{ item: null }]);
  expect(await ask(unnest, [[]])).toEqual([]);
  await client.end();
});
