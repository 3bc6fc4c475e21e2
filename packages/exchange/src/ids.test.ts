import { expect, it } from 'vitest';
import { newId } from './ids.ts';

it('generates unique IDs of a letter and 13 letters or digits, with uniformly distributed characters', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9]{13}$/);
  expect(new Set(ids).size).toBe(ids.length);
  const counts = (characters: string[]) =>
    Object.values(Object.groupBy(characters, (character) => character)).map((same) => same!.length);
  const firsts = counts(ids.map((id) => id[0]!));
  const others = counts(ids.flatMap((id) => [...id.slice(1)]));
  expect([firsts.length, others.length]).toEqual([26, 36]);
  // A fair generator practically never deviates by six standard deviations.
  const within = (count: number, of: number, p: number) =>
    expect(Math.abs(count - of * p)).toBeLessThan(6 * Math.sqrt(of * p * (1 - p)));
  for (const count of firsts) within(count, 20_000, 1 / 26);
  for (const count of others) within(count, 260_000, 1 / 36);
});
