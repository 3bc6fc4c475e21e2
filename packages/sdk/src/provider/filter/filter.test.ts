import { describe, expect, it } from 'vitest';
import { FilterError } from '../../filters/errors.ts';
import type { AttributeType, AttributeValue } from '../../filters/types.ts';
import { duckdb } from '../events/duckdb/dialect.ts';
import { compileFilter } from './index.ts';

const ATTRIBUTES: Record<string, AttributeType> = {
  gender: 'string',
  age: 'int',
  score: 'double',
  weight: 'uint',
  subscriber: 'bool',
  since: 'timestamp',
  'person.name': 'string',
};
const matches = (filter: string, values: Record<string, AttributeValue> = {}) =>
  compileFilter(filter, ATTRIBUTES).matches(values);
const refusal = (filter: string): FilterError => {
  try {
    compileFilter(filter, ATTRIBUTES);
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error(`${filter.slice(0, 100)} was taken`);
};
const listOf = (length: number) => `[${Array.from({ length }, (_, i) => i).join(', ')}]`;

describe('a filter', () => {
  it.each<[string, Record<string, AttributeValue>, boolean]>([
    ["gender == 'F' && age >= 18", { gender: 'F', age: 18n }, true],
    ["gender == 'F' && age >= 18", { gender: 'f', age: 18n }, false],
    ["gender in ['F', 'M']", { gender: 'M' }, true],
    ['age in []', { age: 1n }, false],
    ['weight == 18446744073709551615u', { weight: 2n ** 64n - 1n }, true],
    ['weight / 1u == weight', { weight: 2n ** 64n - 1n }, true],
    ['score < 0.5', { score: Number.NaN }, false],
    ['score != score', { score: Number.NaN }, true],
    ["gender.size() == 1 && size('😀') == 1", { gender: 'F' }, true],
    ["gender < '\uffff'", { gender: '😀' }, false],
    ["gender.matches('^F(emale)?$')", { gender: 'Female' }, true],
    ["person.name.startsWith('An')", { 'person.name': 'Anna' }, true],
    ['subscriber ? age > 10 : age > 20', { subscriber: false, age: 15n }, false],
    ['[1, 2, 3].exists(age, age == 2)', {}, true],
    ['[10, 20].all(limit, age > limit)', { age: 21n }, true],
    ["{'F': 1}['F'] == age", { age: 1n }, true],
    ['dyn(age) == 5.0', { age: 5n }, true],
    ["since < timestamp('2024-01-01T00:00:00Z')", { since: new Date('2023-12-31T23:59:59Z') }, true],
    ["since == timestamp('2024-01-01T00:00:00.000001Z')", { since: 1_704_067_200_000_001n }, true],
    ['since.getHours() == 2', { since: new Date('2024-03-31T02:30:00Z') }, true],
    ['timestamp(1) == since', { since: new Date(1000) }, true],
    ['string(age) == "5"', { age: 5n }, true],
  ])('evaluates %s', (filter, values, expected) => {
    expect(matches(filter, values)).toBe(expected);
  });

  it.each<[string, Record<string, AttributeValue>, boolean]>([
    ["gender == 'F'", {}, false],
    ["gender != 'F'", {}, false],
    ["!(gender == 'F')", { gender: null }, false],
    ["gender == 'F' || age > 3", { age: 4n }, true],
    ["!(gender == 'F' && age > 3)", { age: 1n }, true],
    ["gender in ['F', gender]", {}, false],
    ['gender == null', {}, true],
    ['gender == null', { gender: '' }, false],
    ['null != gender', { gender: '' }, true],
    ['has(person.name)', {}, false],
    ['!has(person.name)', {}, true],
    ["gender == null ? true : gender == 'F'", {}, true],
    ['subscriber', {}, false],
    ['!subscriber', {}, false],
  ])('treats an absent attribute as an error that && and || absorb: %s', (filter, values, expected) => {
    expect(matches(filter, values)).toBe(expected);
  });

  it.each<[string, Record<string, AttributeValue>]>([
    ['age + 1 > age', { age: 2n ** 63n - 1n }],
    ['-age < 0', { age: -(2n ** 63n) }],
    ['age / 0 == 0', { age: 1n }],
    ['weight - 1u > 0u', { weight: 0n }],
    ['int(gender) == 16', { gender: '0x10' }],
    ['int(gender) == 0', { gender: '' }],
    ['double(gender) != 1.0', { gender: 'x' }],
    ['dyn(gender) > 5', { gender: 'a' }],
  ])('does not match if its evaluation fails, and neither does its negation: %s', (filter, values) => {
    expect(matches(filter, values)).toBe(false);
    expect(matches(`!(${filter})`, values)).toBe(false);
  });

  it.each([
    ['age == 1.0', 'int and double', 1, 5],
    ["gender == 'a'\n && age == '1'", 'int and string', 2, 9],
    ['age < 5u', 'int and uint', 1, 5],
    ['age in [1.0]', 'int and double', 1, 5],
    ['age', 'true or false', 1, 1],
    ['gender && true', '&& needs true or false', 1, 1],
    ['!age', '! needs', 1, 1],
    ['age ? true : false', 'int', 1, 1],
    ['subscriber ? 1 : gender', 'int and string', 1, 1],
    ['age.startsWith("a")', 'int.startsWith(string)', 1, 4],
    ['upper(gender) == "F"', 'no function upper', 1, 1],
    ['age.years == 1', 'no member years', 1, 4],
    ['has(gender)', '!= null', 1, 1],
    ['1 == null', 'never null', 1, 3],
    ['age == 9223372036854775808', '64 bits', 1, 8],
    ["gender.matches('(')", 'pattern', 1, 7],
    ["since > timestamp('2024-01-01')", 'not a timestamp', 1, 9],
    ["since > timestamp('10000-01-01T00:00:00Z')", 'not a timestamp', 1, 9],
    ['since > timestamp(253402300800)', 'not a timestamp', 1, 9],
    ['gender.matches(gender)', 'a text in quotes', 1, 7],
    ['google.protobuf.Duration{seconds: 1} == null', 'messages', 1, 1],
    ['age ==', 'not valid CEL', 1, 5],
    ["gender == 'F", 'not valid CEL', 1, 8],
    ['', 'not valid CEL', 1, 1],
  ])('is rejected with the position of the error: %s', (filter, message, line, column) => {
    const error = refusal(filter);
    expect(error.message).toContain(message);
    expect(error.position).toEqual({ line, column });
  });

  it.each([
    'income > 1',
    'GENDER == "F"',
    'person.age == 1',
    'constructor == 1',
    '__proto__ == 1',
    'toString()',
  ])('is rejected for an unknown attribute or function: %s', (filter) => {
    const error = refusal(filter);
    if (filter !== 'toString()') expect(error.code).toBe('FILTER_ATTRIBUTE');
  });

  it.each([
    ['spaces beside a stray quote', `[''${' '.repeat(27_000)}', gender] == []`],
    ['deep brackets', `${'('.repeat(16_000)}true${')'.repeat(16_000)}`],
    ['deep operators', `${'age + '.repeat(200)} age == 1`],
    ['long lists', `age in ${listOf(1001)}`],
    ['nested loops', `${listOf(300)}.all(a, ${listOf(300)}.all(b, a + b == age))`],
    ['text that doubles', "['x'].map(a, a + a).map(a, a + a) == [gender]"],
    ['a list that doubles', '[[1]].map(a, a + a).exists(a, size(a) == age)'],
    ['a long pattern', `gender.matches('${'a?'.repeat(600)}')`],
    ['a pattern that explodes', "gender.matches('((a{100}){100}){100}')"],
    ['an unpaired surrogate', "gender == '\ud800'"],
  ])('is rejected if it is hostile: %s', (_title, filter) => {
    // Without the limits, filters like these could take minutes or exhaust the memory. The last filter costs little,
    // but is invalid because its text has an unpaired surrogate.
    expect(refusal(filter)).toBeInstanceOf(FilterError);
  });

  it('matches patterns in linear time', () => {
    expect(matches("gender.matches('^(a+)+$')", { gender: `${'a'.repeat(50_000)}b` })).toBe(false);
  });

  it('pushes down the conditions that SQL supports, and keeps the rest', () => {
    const { sql, rest } = compileFilter("age > 3 && gender.matches('F')", ATTRIBUTES).pushDown(duckdb);
    const bound: unknown[] = [];
    const text = sql!({
      attribute: (name) => `<${name}>`,
      bind: (value) => `$${bound.push(value)}`,
    });
    expect(text).toBe('(<age> > $1)');
    expect(bound).toEqual([3n]);
    expect(rest!.attributes).toEqual(['gender']);
  });

  it('never writes a value into SQL', () => {
    const hostile = "'); DROP TABLE events; --";
    const { sql } = compileFilter(
      `gender == "${hostile}" || gender.contains("${hostile}")`,
      ATTRIBUTES,
    ).pushDown(duckdb);
    expect(sql!({ attribute: () => 'g', bind: () => '$1' })).toBe('((g = $1) OR (contains(g, $1)))');
  });
});
