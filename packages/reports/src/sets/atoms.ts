/**
 * Exact set algebra. An atom is a bit mask with one bit per segment. It stands for the people in all segments
 * whose bit is 1 and in no other segment. The reach of every set is a weighted sum of the reaches of unions, with
 * integer weights.
 */
import type { Expression } from '../definition/expression.ts';

/** The atoms of a set. Element i is 1 if the set contains the atom with the bit mask i. Element 0 is always 0. */
export type AtomSet = Uint8Array;

export function atomsOf(expression: Expression, segments: readonly string[]): AtomSet {
  if (expression.operator === undefined) {
    const bit = 1 << segments.indexOf(expression.name);
    return Uint8Array.from({ length: 1 << segments.length }, (_, atom) => (atom & bit ? 1 : 0));
  }
  const [left, right] = [atomsOf(expression.left, segments), atomsOf(expression.right, segments)];
  switch (expression.operator) {
    case '|':
      return left.map((member, atom) => member | right[atom]!);
    case '&':
      return left.map((member, atom) => member & right[atom]!);
    case '-':
      return left.map((member, atom) => member & (1 - right[atom]!));
  }
}

/**
 * Returns the weights with which the reaches of unions add up to the reach of the set. A union is a bit mask with one
 * bit per segment. It contains every atom with which it shares a bit. All weights add up to `set[all]`. The weights of
 * the unions that contain the atom `all ^ union` add up to `set[all ^ union]`. The remaining unions are `union` and all
 * smaller unions within it, so their weights add up to `set[all] - set[all ^ union]`. Möbius inversion computes the
 * weights from these sums.
 */
export function unionWeights(set: AtomSet): Map<number, number> {
  const all = set.length - 1;
  const weights = Int32Array.from(set, (_, union) => set[all]! - set[all ^ union]!);
  for (let bit = 1; bit <= all; bit <<= 1) {
    for (let union = 0; union <= all; union++) {
      if (union & bit) weights[union]! -= weights[union ^ bit]!;
    }
  }
  return new Map([...weights.entries()].filter(([union, weight]) => union > 0 && weight !== 0));
}

/**
 * Returns the atoms that can have people. Each mask in `cells` is a combination of segments to which one event can
 * belong (see `cellClasses`). A person can have several events, so the possible atoms are all unions of these masks.
 */
export function possibleAtoms(segments: number, cells: readonly number[]): number[] {
  const isPossible = new Uint8Array(1 << segments);
  isPossible[0] = 1;
  for (const cell of new Set(cells)) {
    for (let atom = 0; atom < isPossible.length; atom++) if (isPossible[atom]) isPossible[atom | cell] = 1;
  }
  return [...isPossible.keys()].filter((atom) => atom > 0 && isPossible[atom]);
}
