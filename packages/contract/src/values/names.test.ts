import { describe, expect, it } from 'vitest';
import { formatName, isId, PATTERNS, type PatternName, PREFERRED, parseName, WILDCARD } from './names.ts';

const names = Object.keys(PATTERNS) as PatternName[];

describe('a name', () => {
  it.each(names)('of the pattern %s is parsed and formatted, and matches no other pattern', (pattern) => {
    const keys = [...PATTERNS[pattern].matchAll(/\{(\w+)\}/g)].map(([, key]) => key!);
    const vars = Object.fromEntries(keys.map((key, i) => [key, `${key}_-${i}`]));
    const name = PATTERNS[pattern].replace(/\{(\w+)\}/g, (_, key: string) => vars[key]!);
    expect(parseName(pattern, name)).toEqual(vars);
    expect(formatName(pattern, vars as never)).toBe(name);
    // A name matches exactly one pattern.
    const taking = names.filter((other) => parseName(other, name) !== undefined);
    expect(taking).toEqual([pattern]);
  });

  it.each([
    '',
    'measurementConsumers',
    'measurementConsumers/',
    '/a',
    'measurementConsumers/a/measurements/',
    'measurementConsumers/a/measurements/b/',
    '/measurementConsumers/a/measurements/b',
    'measurementConsumers/a/measurements/b/requisitions/c',
    'measurementConsumers//measurements/b',
    'measurementConsumers/a/requisitions/b',
    'dataProviders/a/measurements/b',
    'measurementConsumers/a b/measurements/b',
    'measurementConsumers/a/measurements/b:cancel',
    'measurementConsumers/a/measurements/ü',
  ])('%j does not match the measurement pattern', (name) => {
    expect(parseName('measurement', name)).toBeUndefined();
  });
});

describe('an ID', () => {
  it.each(['a', 'Z', '0', '_', '-', 'a-B_9', 'a'.repeat(63)])('may be %j', (id) => {
    expect(isId(id)).toBe(true);
  });

  it('may be the wildcard or the preferred ID', () => {
    expect([WILDCARD, PREFERRED]).toEqual(['-', 'preferred']);
    expect([WILDCARD, PREFERRED].every(isId)).toBe(true);
  });

  it.each(['', 'a'.repeat(64), ' a', 'a ', 'a\n', 'a.b', 'a/b', 'a:b', 'a%2Fb', 'ä', '\0'])(
    'may not be %j',
    (id) => {
      expect(isId(id)).toBe(false);
    },
  );
});
