import type { JsonValue } from '@bufbuild/protobuf';
import { describe, expect, it, test } from 'vitest';
import { beyondBounds, PRINTED_BOUNDS } from './printedBounds.ts';

const { characters, items, depth } = PRINTED_BOUNDS;

const nested = (levels: number): JsonValue => {
  let value: JsonValue = 1;
  for (let i = 1; i < levels; i++) value = { a: value };
  return value;
};

describe('metadata within the bounds', () => {
  test.each<[string, JsonValue]>([
    ['null', null],
    ['a message', { title: 'Grüße', genres: ['NEWS'], count: '1' }],
    ['a long text', { text: 'x'.repeat(characters - 100) }],
    ['many values', Array.from({ length: items / 2 - 1 }, () => 0)],
    ['deep values', nested(depth)],
  ])('may be printed: %s', (_what, json) => {
    expect(beyondBounds(json)).toBeUndefined();
  });
});

describe('metadata beyond a bound', () => {
  const name = 'n'.repeat(20_000);
  test.each<[string, JsonValue, string]>([
    ['a long text', { text: 'x'.repeat(10 * characters) }, 'characters'],
    ['long names', Array.from({ length: (10 * characters) / 20_000 }, () => ({ [name]: 1 })), 'characters'],
    ['long enum values', Array.from({ length: (10 * characters) / 20_000 }, () => name), 'characters'],
    ['many values', Array.from({ length: 10 * items }, () => 0), 'values'],
    ['deep values', nested(10 * depth), 'levels'],
  ])('is not printed: %s', (_what, json, why) => {
    expect(beyondBounds(json)).toContain(why);
  });

  it('is not printed if only its escaped text exceeds the bound', () => {
    expect(beyondBounds({ text: '\u0001'.repeat(characters / 5) })).toContain('characters');
  });

  it('is not printed even if it exceeds a bound only slightly', () => {
    expect(beyondBounds({ text: 'x'.repeat(characters) })).toContain('characters');
    expect(beyondBounds(nested(depth + 1))).toContain('levels');
  });
});
