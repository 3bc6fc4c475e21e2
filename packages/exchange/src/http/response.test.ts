import { expect, it } from 'vitest';
import { joinParts } from './response.ts';

it.each<[title: string, parts: string[]]>([
  ['nothing', []],
  ['a short answer', ['{"a":', '"ü"}']],
  ['a page', Array.from({ length: 50 }, (_, i) => `${i}`.repeat(3_000))],
  ['a page in letters of three bytes', Array.from({ length: 50 }, () => '語'.repeat(3_000))],
  ['a page in letters of four bytes', Array.from({ length: 50 }, () => '𝄞'.repeat(3_000))],
  ['a page of three megabytes', Array.from({ length: 50 }, () => 'é'.repeat(60_000))],
])('joins the parts of %s', (_title, parts) => {
  expect(joinParts(parts).toString()).toBe(parts.join(''));
});

it('leaves a response alone when the next one is written', () => {
  const first = joinParts(['a'.repeat(100_000)]);
  joinParts(['b'.repeat(100_000)]);
  expect(first.toString()).toBe('a'.repeat(100_000));
});
