import { describe, expect, it } from 'vitest';
import { closest, editDistance } from './closest.ts';
import { filterProblem, type PublishedAttribute } from './index.ts';

const ATTRIBUTES: PublishedAttribute[] = [
  { name: 'age', type: 'INT' },
  { name: 'age_group', type: 'STRING' },
  { name: 'country', type: 'STRING' },
  { name: 'person.gender', type: 'STRING' },
  { name: 'since', type: 'TIMESTAMP' },
];

describe('filterProblem', () => {
  it.each([
    ['age > 30', undefined],
    ["person.gender == 'F' && age_group in ['18-34', '35-54']", undefined],
    ["since > timestamp('2026-01-01T00:00:00Z')", undefined],
    ['agee > 30', ['FILTER_ATTRIBUTE', 1, 1, 'age']],
    ['age > 30 &&\n  contry == "DE"', ['FILTER_ATTRIBUTE', 2, 3, 'country']],
    ['age > 1 && person.gendre == "F"', ['FILTER_ATTRIBUTE', 1, 12, 'person.gender']],
    ['income > 1', ['FILTER_ATTRIBUTE', 1, 1, undefined]],
    ['__proto__ == 1', ['FILTER_ATTRIBUTE', 1, 1, undefined]],
    ['country.startWith("D")', ['FILTER_TYPE', 1, 8, 'startsWith']],
    ['country > 5', ['FILTER_TYPE', 1, 9, undefined]],
    ['age', ['FILTER_TYPE', 1, 1, undefined]],
    ['age > 30)', ['FILTER_SYNTAX', 1, 9, undefined]],
    [`country in [${'1,'.repeat(9000)}1]`, ['FILTER_LIMIT', undefined, undefined, undefined]],
    [`country == '${'x'.repeat(40_000)}'`, ['FILTER_LIMIT', undefined, undefined, undefined]],
    // Brackets and operators in strings do not count. They do count after the end of each kind of string.
    [`country == '${'([{+'.repeat(8000)}'`, undefined],
    ...['"x"', "'\\''", String.raw`r'\'`, String.raw`R"\"`, `'''it's'''`, `"""say "x" """`].flatMap(
      (string) => [
        [`country == ${string}`, undefined] as const,
        [
          `country == ${string} || ${'('.repeat(250)}true${')'.repeat(250)}`,
          ['FILTER_LIMIT', undefined, undefined, undefined],
        ] as const,
      ],
    ),
    ["// it's a comment\nage > 1", undefined],
    [`// it's\nage > 1${' || age > 1'.repeat(2000)}`, ['FILTER_LIMIT', undefined, undefined, undefined]],
    [`// ${'x'.repeat(9000)}\nage > 1`, ['FILTER_LIMIT', undefined, undefined, undefined]],
  ] as const)('returns the expected problem, or undefined: case %#', (filter, expected) => {
    const problem = filterProblem(filter, ATTRIBUTES);
    const { code, position, suggestion } = problem ?? {};
    expect(problem && [code, position?.line, position?.column, suggestion]).toEqual(expected);
  });

  it('checks only syntax and function names if the attributes are unknown', () => {
    expect(filterProblem('agee > "x"')).toBeUndefined();
    expect(filterProblem('agee > > 1')).toMatchObject({
      code: 'FILTER_SYNTAX',
      position: { line: 1, column: 6 },
    });
    expect(filterProblem('has(a.b) && [1, 2].exists(x, x > agee) && size(name) > 3')).toBeUndefined();
    expect(filterProblem('age > 1 || [agee].exists(x, foo(x))')).toMatchObject({
      message: 'There is no function foo',
      position: { line: 1, column: 29 },
    });
    expect(filterProblem('name.startWith("x")')).toMatchObject({ suggestion: 'startsWith' });
    expect(filterProblem('age > 1', [])).toMatchObject({
      message: expect.stringContaining('there are: none'),
    });
  });

  it('lists at most 20 known attributes, and the number of others', () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ name: `column_${i}`, type: 'INT' }) as const);
    const { message } = filterProblem('nothing > 1', many)!;
    expect(message).toMatch(/^There is no attribute nothing; there are: column_0, .*column_19 and 80 more$/);
  });
});

describe('the closest name', () => {
  it.each([
    ['age', 'age', 0],
    ['gae', 'age', 1],
    ['ag', 'age', 1],
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
  ])('uses the same edit distance from %s to %s as in reverse', (a, b, distance) => {
    expect([editDistance(a, b), editDistance(b, a)]).toEqual([distance, distance]);
  });

  it('is the nearest similar name, regardless of case, or undefined', () => {
    expect(closest('Country', ['county', 'country'])).toBe('country');
    expect(closest('devise', ['age', 'device', 'devices'])).toBe('device');
    expect(closest('income', ['age', 'country'])).toBeUndefined();
    expect(closest('x', ['y'])).toBe('y');
    expect(closest('abc', [])).toBeUndefined();
  });
});
