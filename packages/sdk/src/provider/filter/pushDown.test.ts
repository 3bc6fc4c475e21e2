/** Random filters over random rows: the engine selects the same rows as CEL evaluated for each row. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AttributeType, AttributeValue } from '../../filters/types.ts';
import { type Events, openEvents } from '../events.ts';
import { compileFilter } from './index.ts';

const ATTRIBUTES = {
  s: 'string',
  t: 'string',
  i: 'int',
  j: 'int',
  small: 'int',
  u: 'uint',
  d: 'double',
  e: 'double',
  b: 'bool',
  c: 'bool',
  at: 'timestamp',
  'person.name': 'string',
  'person.age': 'int',
} as const satisfies Record<string, AttributeType>;
type Name = keyof typeof ATTRIBUTES;
const named = (type: AttributeType) =>
  (Object.keys(ATTRIBUTES) as Name[]).filter((n) => ATTRIBUTES[n] === type);

const STRINGS = [
  '',
  'a',
  'A',
  'ab',
  'é',
  'e\u0301',
  '😀',
  '\uffff',
  '\ue000z',
  "it's",
  '"',
  '%',
  '_',
  'a\u0000b',
];
const INTS = [0n, 1n, -1n, 2n, 7n, -7n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 62n, 3_037_000_500n];
const UINTS = [0n, 1n, 7n, 2n ** 63n, 2n ** 64n - 1n];
const DOUBLES = [
  0,
  -0,
  1,
  -1.5,
  0.1,
  Number.NaN,
  Infinity,
  -Infinity,
  2 ** 53,
  5e-324,
  1.7976931348623157e308,
];
const MICROS = [0n, -1n, 1n, 1_700_000_000_000_000n, -62_135_596_800_000_000n, 1_700_000_000_123_456n];

const VALUES: Record<AttributeType, fc.Arbitrary<AttributeValue>> = {
  string: fc.constantFrom(...STRINGS),
  int: fc.constantFrom(...INTS),
  uint: fc.constantFrom(...UINTS),
  double: fc.constantFrom(...DOUBLES),
  bool: fc.boolean(),
  timestamp: fc.constantFrom(...MICROS),
};
const cellOf = (name: Name) =>
  name === 'small' ? fc.constantFrom(0n, 1n, -128n, 127n) : VALUES[ATTRIBUTES[name]];
const ROW = fc.record(
  Object.fromEntries(
    (Object.keys(ATTRIBUTES) as Name[]).map((name) => [
      name,
      fc.oneof({ weight: 4, arbitrary: cellOf(name) }, { weight: 1, arbitrary: fc.constant(null) }),
    ]),
  ),
);

// Row k lasts 2^k milliseconds: the sum of the matching ones tells which they are.
const EMPTY = Object.fromEntries(Object.keys(ATTRIBUTES).map((name) => [name, null]));
const ROWS: Record<string, AttributeValue>[] = [
  { ...EMPTY, d: Number.NaN, s: '😀', t: '\uffff', i: 2n ** 63n - 1n },
  { ...EMPTY, e: Number.NaN, d: -0 },
  { ...EMPTY, d: 0, e: 0 },
  ...fc.sample(ROW, { numRuns: 45, seed: 7 }),
];
let folder: string;
let events: Events;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'push-down-'));
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(
    `CREATE TABLE rows (k INTEGER, s VARCHAR, t VARCHAR, i BIGINT, j BIGINT, small TINYINT, u UBIGINT,
       d DOUBLE, e DOUBLE, b BOOLEAN, c BOOLEAN, "at" TIMESTAMP, name VARCHAR, age INTEGER)`,
  );
  const literal = (name: Name, value: AttributeValue): string => {
    if (value === null || value === undefined) return 'NULL';
    switch (ATTRIBUTES[name]) {
      case 'string':
        return [...String(value)].map((char) => `chr(${char.codePointAt(0)})`).join(' || ') || "''";
      case 'double':
        return `'${Object.is(value, -0) ? '-0.0' : value}'::DOUBLE`;
      case 'timestamp':
        return `make_timestamp(${value})`;
      default:
        return `(${value})`;
    }
  };
  for (const [k, row] of ROWS.entries()) {
    const cells = (Object.keys(ATTRIBUTES) as Name[]).map((name) =>
      literal(name, name === 'person.age' ? clampAge(row) : row[name]),
    );
    await connection.run(`INSERT INTO rows VALUES (${k}, ${cells.join(', ')})`);
  }
  await connection.run(
    `COPY (SELECT k AS vid, 'g' AS event_group, TIMESTAMP '2024-01-01' AS timestamp,
       (1::BIGINT << k) / 1000.0 AS duration, * EXCLUDE (k, name, age), {'name': name, 'age': age} AS person
       FROM rows) TO '${join(folder, 'rows.parquet')}'`,
  );
  events = await openEvents({ files: join(folder, 'rows.parquet') });
});
afterAll(async () => {
  await events?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The column is a 32-bit one. */
function clampAge(row: Record<string, AttributeValue>): AttributeValue {
  const age = row['person.age'];
  row['person.age'] = typeof age === 'bigint' ? BigInt.asIntN(32, age) : age;
  return row['person.age'];
}

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\u0000', '\\u0000')}'`;
const literals = {
  string: fc.constantFrom(...STRINGS).map(quoted),
  int: fc.constantFrom(...INTS).map(String),
  uint: fc.constantFrom(...UINTS).map((value) => `${value}u`),
  double: fc.constantFrom('0.0', '-0.0', '1.0', '-1.5', '0.1', '1e308', '(0.0 / 0.0)', '(1.0 / 0.0)'),
  bool: fc.constantFrom('true', 'false', '(1 / 0 == 1)'),
  timestamp: fc
    .constantFrom(...['1970-01-01T00:00:00Z', '2023-11-14T22:13:20.123456Z'])
    .map((text) => `timestamp('${text}')`),
};
const TYPES = Object.keys(literals) as AttributeType[];

const grammar = fc.letrec<Record<AttributeType, string>>((tie) => {
  const infix = (type: AttributeType, ...operators: string[]) =>
    fc.tuple(tie(type), fc.constantFrom(...operators), tie(type)).map(([a, o, b]) => `(${a} ${o} ${b})`);
  const choice = (type: AttributeType) =>
    fc.tuple(tie('bool'), tie(type), tie(type)).map(([c, a, b]) => `(${c} ? ${a} : ${b})`);
  const leaf = (type: AttributeType) =>
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom<string>(...named(type)) }, literals[type]);
  const value = (type: AttributeType, ...rest: fc.Arbitrary<string>[]) =>
    fc.oneof({ maxDepth: 4, depthSize: 'small' }, leaf(type), leaf(type), choice(type), ...rest);
  const member = (type: AttributeType) =>
    fc
      .tuple(
        tie(type),
        fc.array(fc.oneof({ weight: 5, arbitrary: literals[type] }, leaf(type)), { maxLength: 4 }),
      )
      .map(([a, list]) => `(${a} in [${list.join(', ')}])`);
  return {
    string: value('string', infix('string', '+')),
    int: value(
      'int',
      infix('int', '+', '-', '*', '/', '%'),
      tie('int').map((a) => `-(${a})`),
      tie('string').map((a) => `size(${a})`),
      tie('double').map((a) => `int(${a})`),
    ),
    uint: value('uint', infix('uint', '+', '-', '*', '/', '%')),
    double: value(
      'double',
      infix('double', '+', '-', '*', '/'),
      tie('int').map((a) => `double(${a})`),
    ),
    timestamp: value('timestamp'),
    bool: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      leaf('bool'),
      ...TYPES.map((type) => infix(type, '==', '!=', '<', '<=', '>', '>=')),
      ...TYPES.map(member),
      infix('bool', '&&', '||'),
      infix('bool', '&&', '||'),
      tie('bool').map((a) => `!${a.startsWith('(') || /^\w+$/.test(a) ? a : `(${a})`}`),
      choice('bool'),
      fc.constantFrom(...Object.keys(ATTRIBUTES)).map((name) => `(${name} == null)`),
      fc.constantFrom('has(person.name)', '!has(person.age)', '(null != s)'),
      fc
        .tuple(tie('string'), fc.constantFrom('startsWith', 'endsWith', 'contains'), tie('string'))
        .map(([a, name, b]) => `${a}.${name}(${b})`),
      tie('string').map((a) => `${a}.matches('^[aA😀]')`),
      leaf('int').map((a) => `[1, 2, 7].exists(x, x == ${a})`),
    ),
  };
});

/** Often with several conditions, as people write filters: some of them are pushed down, others not. */
const FILTER = fc.array(grammar.bool, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' && '));

async function pickedByEngine(filter: string): Promise<bigint> {
  const interval = { start: new Date('2024-01-01T00:00:00Z'), end: new Date('2024-01-02T00:00:00Z') };
  const query = { eventGroups: [{ reference: 'g', interval, filter }], vidSampling: { start: 0, width: 1 } };
  return events.watchDurationMillis(query, 2n ** 62n);
}

function pickedByCel(filter: string): bigint {
  const compiled = compileFilter(filter, ATTRIBUTES);
  return ROWS.reduce((sum, row, k) => (compiled.matches(row) ? sum + (1n << BigInt(k)) : sum), 0n);
}

test.each([
  // NaN beside an absent value, equal to itself, and in lists.
  '!(d < e)',
  'd == d',
  'd in [0.0 / 0.0]',
  // -0 and 0 are one group of rows to the engine.
  '1.0 / d < 0.0',
  // UTF-16 units and code points sort these differently.
  's < t',
  // 2^63 - 1 and 2^63 are one double.
  'i in [dyn(9223372036854775808.0)]',
  'dyn(i) == 9223372036854775808.0',
  // An element that fails makes the whole test fail.
  "s in ['😀', t]",
  'b in [true, 1 / 0 == 1]',
  'i in []',
  'i + 1 > i',
  'true',
  '1 / 0 == 1',
])('the engine and CEL agree on %s', async (filter) => {
  for (const form of [filter, `!(${filter})`, `(${filter}) || c`]) {
    expect(await pickedByEngine(form)).toBe(pickedByCel(form));
  }
});

test('a random filter picks the same events in the engine as evaluated row by row', async () => {
  let whole = 0;
  let some = 0;
  let matching = 0;
  // RUNS and SEED are for a longer search by hand.
  const runs = Number(process.env.RUNS ?? rounds(250, 50));
  await fc.assert(
    fc.asyncProperty(FILTER, async (filter) => {
      const { sql, rest } = compileFilter(filter, ATTRIBUTES).pushDown();
      if (rest === undefined) whole++;
      else if (sql !== undefined) some++;
      const expected = pickedByCel(filter);
      if (expected > 0n) matching++;
      expect({ filter, picked: await pickedByEngine(filter) }).toEqual({ filter, picked: expected });
    }),
    { numRuns: runs, seed: Number(process.env.SEED ?? 1) },
  );
  // The comparison means something only if both ways were taken, and rows were picked.
  expect(whole).toBeGreaterThan(runs / 5);
  expect(some).toBeGreaterThan(runs / 15);
  expect(matching).toBeGreaterThan(runs / 4);
}, 120_000);
