import { expect, test } from 'vitest';
import {
  arrayParameters,
  arrays,
  column,
  except,
  type Fields,
  group,
  long,
  names,
  only,
  optional,
  optionalGroup,
  parameters,
  select,
  table,
  values,
} from './table.ts';

interface Thing {
  id: string;
  size: bigint | undefined;
  key: { data: Uint8Array; format: string | undefined };
  failure: { reason: string; details: { at: string } } | undefined;
  notes: string[] | undefined;
}

const things = table<Thing>('things', {
  id: column('id'),
  size: optional('size', 'uint64'),
  key: group({ data: long('key_data'), format: optional('key_format') }),
  failure: optionalGroup('failure_reason', {
    reason: column('failure_reason'),
    details: group({ at: column('failed_at', 'time') }),
  }),
  notes: optional('notes', 'json'),
});

const full: Thing = {
  id: 'a',
  size: 2n ** 64n - 1n,
  key: { data: Uint8Array.of(1), format: 'raw' },
  failure: { reason: 'R', details: { at: 'T' } },
  notes: ['n'],
};
const bare: Thing = {
  id: 'b',
  size: undefined,
  key: { data: Uint8Array.of(2), format: undefined },
  failure: undefined,
  notes: undefined,
};

/** Runs the source code that the reader generates, as a database connection does. */
function read(row: Record<string, unknown>, prefix?: string): Thing {
  const source = things.reader(prefix).source({
    value: (name) => `row[${JSON.stringify(name)}]`,
    isNull: (name) => `row[${JSON.stringify(name)}] === null`,
  });
  return new Function('row', `return (${source});`)(row) as Thing;
}

test('a record is mapped to its columns, with undefined for absent fields', () => {
  expect(names(things.columns)).toBe('id, size, key_data, key_format, failure_reason, failed_at, notes');
  expect(values(things.columns, full)).toEqual(['a', -1n, Uint8Array.of(1), 'raw', 'R', 'T', '["n"]']);
  expect(values(things.columns, bare)).toEqual([
    'b',
    undefined,
    Uint8Array.of(2),
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  ['with all fields', full],
  ['with only its required fields', bare],
])('a record %s is read as it was stored', (_, thing) => {
  const stored = values(things.columns, thing);
  const row = (prefix: string) =>
    Object.fromEntries(things.columns.map(({ name }, i) => [prefix + name, stored[i] ?? null]));
  // The driver parses JSON columns. The column map reads all other columns.
  const parsed = (prefix: string) => ({ ...row(prefix), [`${prefix}notes`]: thing.notes ?? null });
  expect(read(parsed(''))).toStrictEqual(thing);
  expect(read(parsed('t_'), 't_')).toStrictEqual(thing);
});

test('a select list uses an alias and a prefix, and can shorten long columns', () => {
  expect(select(things, 't', 't_', (value) => `left(${value})`)).toBe(
    't.id AS t_id, t.size AS t_size, left(t.key_data) AS t_key_data, t.key_format AS t_key_format, ' +
      't.failure_reason AS t_failure_reason, t.failed_at AS t_failed_at, t.notes AS t_notes',
  );
});

test('only and except select the columns of some fields, for single rows or arrays of rows', () => {
  const written = only(things, 'id', 'failure');
  expect(names(written, 'n')).toBe('n.id, n.failure_reason, n.failed_at');
  expect(names(except(things, 'id', 'key', 'failure'))).toBe('size, notes');
  expect(parameters(written, 3)).toBe('$3, $4, $5');
  expect(arrayParameters(written, 3)).toBe('$3::text[], $4::text[], $5::timestamptz[]');
  expect(arrays(written, [full, bare])).toEqual([
    ['a', 'b'],
    ['R', undefined],
    ['T', undefined],
  ]);
});

test('a column map with a missing, unknown or wrongly optional field does not compile', () => {
  // @ts-expect-error: b has no column
  const forgotten: Fields<{ a: string; b: string }> = { a: column('a') };
  // @ts-expect-error: there is no field b
  const invented: Fields<{ a: string }> = { a: column('a'), b: column('b') };
  // @ts-expect-error: a can be undefined
  const never: Fields<{ a: string | undefined }> = { a: column('a') };
  // @ts-expect-error: a cannot be undefined
  const absent: Fields<{ a: string }> = { a: optional('a') };
  // @ts-expect-error: c has no column
  const inside: Fields<{ a: { b: string; c: string } }> = { a: group({ b: column('b') }) };
  expect([forgotten, invented, never, absent, inside]).toHaveLength(5);
});
