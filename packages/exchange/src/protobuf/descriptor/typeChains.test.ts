import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TypeChains } from './typeChains.ts';

/** Returns whether a chain is too long. Each pair is a type and the type of one of its fields. */
function tooLong(...fields: [string, string][]): boolean {
  const chains = new TypeChains();
  for (const [type, target] of fields) chains.add(type, target);
  return chains.tooLong() !== undefined;
}

const chain = (name: string, length: number): [string, string][] =>
  Array.from({ length: length - 1 }, (_, i) => [`${name}${i}`, `${name}${i + 1}`]);

describe('a chain of message types', () => {
  it('may have up to 256 types, declared in any order', () => {
    for (const order of [(c: [string, string][]) => c, (c: [string, string][]) => c.toReversed()]) {
      expect(tooLong(...order(chain('m', 256)))).toBe(false);
      expect(tooLong(...order(chain('m', 257)))).toBe(true);
      expect(tooLong(...order(chain('m', 100_000)))).toBe(true);
    }
  });

  it('includes all types of a cycle that it passes, and the types before and after the cycle', () => {
    const circle = (length: number): [string, string][] => [...chain('c', length), [`c${length - 1}`, 'c0']];
    expect(tooLong(...circle(256))).toBe(false);
    expect(tooLong(...circle(257))).toBe(true);
    expect(tooLong(...circle(200), ...chain('m', 56), ['m55', 'c7'])).toBe(false);
    expect(tooLong(...circle(200), ...chain('m', 57), ['m56', 'c7'])).toBe(true);
    expect(tooLong(...circle(200), ...chain('m', 57), ['c7', 'm0'])).toBe(true);
  });

  it('is not longer if many types refer to one type, or one type to many', () => {
    const names = Array.from({ length: 300 }, (_, i) => `m${i}`);
    expect(tooLong(...names.map((name): [string, string] => [name, 'shared']))).toBe(false);
    expect(tooLong(...names.map((name): [string, string] => ['one', name]))).toBe(false);
    expect(tooLong(['m', 'm'], ['m', 'm'])).toBe(false);
  });

  it('has the length that a search of all paths finds, if there are no cycles', () => {
    const edge = fc.tuple(fc.nat(40), fc.nat(40)).filter(([a, b]) => a < b);
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 80 }), (edges) => {
        const longest = new Map<number, number>();
        for (let node = 40; node >= 0; node--) {
          const next = edges.filter(([from]) => from === node).map(([, to]) => longest.get(to)!);
          longest.set(node, 1 + Math.max(0, ...next));
        }
        // The types `t…` before `n0` make the longest chain exactly as long as allowed, or one type too long.
        for (const [extra, expected] of [
          [0, false],
          [1, true],
        ] as const) {
          const tail = 256 - longest.get(0)! + extra;
          const fields = edges.map(([a, b]): [string, string] => [`n${a}`, `n${b}`]);
          expect(tooLong(...fields, ...chain('t', tail), [`t${tail - 1}`, 'n0'])).toBe(expected);
        }
      }),
    );
  });
});
