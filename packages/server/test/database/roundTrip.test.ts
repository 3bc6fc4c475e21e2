import { randomBytes } from 'node:crypto';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../../src/database/client.ts';
import {
  type Query,
  query as queryOn,
  type Result,
  type Statement,
  sendTogether,
} from '../../src/database/roundTrip.ts';
import { cell, object } from '../../src/database/rowReader.ts';

let database: DuchyDatabase;
let client: Client;
let described: string[];

beforeAll(async () => {
  database = await createDuchyDatabase();
  await database.query('CREATE TABLE kept (n int)');
});
afterAll(() => database.drop());

async function connected(pipeline: boolean, types?: pg.CustomTypesConfig): Promise<void> {
  client = new Client({
    connectionString: database.url,
    pipeline,
    ...(types && { types }),
  } as pg.ClientConfig);
  await client.connect();
  described = [];
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  for (const reply of ['rowDescription', 'noData']) connection.on(reply, () => described.push(reply));
}

const query = <R>(statement: Statement<R>, values: unknown[] = []) => queryOn(client, statement, values);

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
  test(`a statement is described once per connection, and later uses return the same columns (pipeline ${pipeline})`, async () => {
    await connected(pipeline);
    expect(await query(COLUMNS, ['a', 1])).toEqual([row('a')]);
    expect(described).toEqual(['rowDescription']);
    expect(await query(COLUMNS, ['b', 2])).toEqual([row('b'), row('b')]);
    expect(await query(COLUMNS, ['c', 0])).toEqual([]);
    expect(described).toEqual(['rowDescription']);
    await client.end();
  });
}

test('concurrent first uses of a statement are each described', async () => {
  await connected(true);
  const replies = await Promise.all(['a', 'b', 'c'].map((text) => query(COLUMNS, [text, 1])));
  expect(replies).toEqual([[row('a')], [row('b')], [row('c')]]);
  expect(described).toHaveLength(3);
  await client.end();
});

test('a statement without rows is described once as well', async () => {
  await connected(true);
  const keep = { name: 'keep', text: 'INSERT INTO kept VALUES ($1)' };
  for (const n of [1, 2, 3]) expect(await query(keep, [n])).toEqual([]);
  expect(described).toEqual(['noData']);
  expect(await database.query('SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  await client.end();
});

test('a server error rejects its query with the SQLSTATE, on the first and on later uses of the statement', async () => {
  await connected(true);
  const divide = { name: 'divide', text: 'SELECT 12 / $1::int AS result' };
  const byZero = { code: '22012' };
  await expect(query(divide, [0])).rejects.toMatchObject(byZero);
  expect(await query(divide, [4])).toEqual([{ result: 3 }]);
  const [refused, good] = await Promise.allSettled([query(divide, [0]), query(divide, [3])]);
  expect(refused).toMatchObject({ status: 'rejected', reason: byZero });
  expect(good).toEqual({ status: 'fulfilled', value: [{ result: 4 }] });
  await client.end();
});

test('a value that cannot be parsed fails only its own statement', async () => {
  const getTypeParser = ((oid: number) => (text: string) => {
    if (text === 'unreadable') throw new Error('unreadable');
    return oid === 25 ? text : null;
  }) as pg.CustomTypesConfig['getTypeParser'];
  await connected(true, { getTypeParser });
  const echo = { name: 'echo', text: 'SELECT $1::text AS text' };
  const replies = await Promise.allSettled(['a', 'unreadable', 'b'].map((text) => query(echo, [text])));
  expect(replies).toMatchObject([
    { value: [{ text: 'a' }] },
    { reason: { message: 'unreadable' } },
    { value: [{ text: 'b' }] },
  ]);
  await client.end();
});

test('a reader maps the columns of a row, and fails the statement if a column is missing', async () => {
  await connected(true);
  const text = 'SELECT 1 AS one, NULL AS none';
  const reader = object({ first: cell<number>('one'), rest: object({ none: cell<null>('none') }) });
  expect(await query({ name: 'read', text, reader })).toEqual([{ first: 1, rest: { none: null } }]);
  const missing = { name: 'missing', text, reader: cell('two') };
  await expect(query(missing)).rejects.toThrow('The statement selects no column two.');
  await client.end();
});

test('bytes in an array are unchanged, also next to null and empty elements', async () => {
  await connected(true);
  const unnest = { name: 'unnest', text: 'SELECT item FROM unnest($1::bytea[]) AS item' };
  const items = [Buffer.from([0, 0x5c, 0x22, 0xff]), null, Buffer.alloc(0), randomBytes(70_000)];
  for (const _ of [1, 2]) expect(await query(unnest, [items])).toEqual(items.map((item) => ({ item })));
  expect(await query(unnest, [[undefined, Uint8Array.of(7)]])).toEqual([
    { item: null },
    { item: Buffer.of(7) },
  ]);
  expect(await query(unnest, [[null]])).toEqual([{ item: null }]);
  expect(await query(unnest, [[]])).toEqual([]);
  await client.end();
});

test('bytes are unchanged, in text format at first and in binary format later, next to non-ASCII text', async () => {
  await connected(true);
  const echo = {
    name: 'echoBytes',
    text: 'SELECT $1::bytea AS bytes, $2::text AS text, NULL::bytea AS none',
  };
  const values = [randomBytes(100), Buffer.alloc(0), randomBytes(300_000)];
  const sizes: number[] = [];
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('dataRow', ({ length }: { length: number }) => sizes.push(length));
  for (const bytes of [...values, ...values]) {
    const row = { bytes, text: 'žluťoučký 馬 \u{1F40E}', none: null };
    expect(await query(echo, [bytes, row.text])).toEqual([row]);
  }
  expect(sizes[3]).toBeLessThan(sizes[0]!);
  expect(await client.query('SELECT $1::bytea AS bytes', [values[0]])).toMatchObject({
    rows: [{ bytes: values[0] }],
  });
  await client.end();
});

describe('statements that are sent together', () => {
  const number = { name: 'number', text: 'SELECT $1::int AS n' };
  const divide = { name: 'divide', text: 'SELECT 12 / $1::int AS result' };
  const keep = { name: 'keep', text: 'INSERT INTO kept VALUES ($1)' };
  const together = (...sent: [Statement, ...unknown[]][]) => {
    const queries: Query[] = [];
    const results = sent.map(
      ([statement, ...values]) =>
        new Promise<Result>((resolve, reject) => queries.push({ statement, values, resolve, reject })),
    );
    sendTogether(client, queries);
    return Promise.all(results);
  };

  for (const pipeline of [true, false]) {
    test(`each return their own result in one round trip, known or not (pipeline ${pipeline})`, async () => {
      await connected(pipeline);
      await query(divide, [1]);
      let ready = 0;
      (client as unknown as { connection: NodeJS.EventEmitter }).connection.on(
        'readyForQuery',
        () => ready++,
      );
      expect(await together([number, 1], [keep, 11], [divide, 4], [number, 2], [keep, 12])).toEqual([
        { rows: [{ n: 1 }], command: 'SELECT 1' },
        { rows: [], command: 'INSERT 0 1' },
        { rows: [{ result: 3 }], command: 'SELECT 1' },
        { rows: [{ n: 2 }], command: 'SELECT 1' },
        { rows: [], command: 'INSERT 0 1' },
      ]);
      expect(ready).toBe(1);
      await client.end();
    });
  }

  test('all fail and roll back with the error of the first that fails, and can be sent again', async () => {
    await connected(true);
    await database.query('TRUNCATE kept');
    const attempt = () => together([keep, 21], [divide, 0], [number, 1], [keep, 22]);
    for (const _ of [1, 2]) await expect(attempt()).rejects.toMatchObject({ code: '22012' });
    expect(await together([number, 3], [divide, 2])).toMatchObject([
      { rows: [{ n: 3 }] },
      { rows: [{ result: 6 }] },
    ]);
    await together([keep, 23]);
    expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 23 }]);
    await client.end();
  });

  test('are not sent at all if a value cannot be serialized', async () => {
    await connected(true);
    await database.query('TRUNCATE kept');
    const circular: { self?: unknown } = {};
    circular.self = circular;
    await expect(together([keep, 31], [number, circular])).rejects.toThrow('circular');
    await together([keep, 32]);
    expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 32 }]);
    await client.end();
  });
});
