import { describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import { drawWindows, describe as inWords, lengthOf } from './windows.ts';

const kinds = (seed: number, count: number) =>
  drawWindows(new Random(seed), count).map(({ link, fault }) =>
    [link, fault.kind, 'gone' in fault ? fault.gone : ''].join(' '),
  );

describe('the windows of faults', () => {
  test('begin with a dropped response to COMMIT for every seed', () => {
    for (let seed = 0; seed < 20; seed++) expect(kinds(seed, 1)).toEqual(['database dropAfterCommit ']);
  });

  test('contain every fault on every link once before any fault repeats', () => {
    const all = kinds(7, 21);
    expect(new Set(all).size).toBe(21);
    expect(new Set(kinds(7, 63)).size).toBe(21);
    expect(all).toContain('clients blackHole ');
    expect(all).toContain('database halfOpen server');
  });

  test('are the same for the same seed, and differ for another seed', () => {
    const draw = (seed: number) => drawWindows(new Random(seed), 42).map(inWords);
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
  });

  test('outlast the deadline of the exchange if the fault is a black hole', () => {
    const window = (kind: 'blackHole' | 'down') => ({ link: 'database' as const, fault: { kind }, share: 1 });
    expect(lengthOf(window('blackHole'), 1_000)).toBeGreaterThan(8_000);
    expect(lengthOf(window('down'), 1_000)).toBe(1_000);
  });
});
