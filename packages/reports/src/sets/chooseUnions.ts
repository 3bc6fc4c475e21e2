/** Chooses unions to measure, at a low cost. Every wanted reach can be computed from the chosen unions. */
import { type AtomSet, unionWeights } from './atoms.ts';
import { Span } from './span.ts';

export interface Choice {
  segments: number;
  /** The atoms that people can belong to. */
  atoms: readonly number[];
  wanted: readonly AtomSet[];
  /** Returns the cost of measuring a union. The cost is 0 if the union has been answered or is measured anyway. */
  costOf(union: number): number;
}

/** The maximum number of segments for which `chooseUnions` tries every selection of unions. */
const EXHAUSTIVE_SEGMENTS = 4;

/**
 * Returns the unions to measure. If people can belong to every atom, these are the unions with a nonzero weight in a
 * wanted set. If some atoms cannot have people, different selections of unions can be enough to compute the wanted
 * sets. With up to EXHAUSTIVE_SEGMENTS segments, tries every selection and returns the cheapest one. With more
 * segments, starts with one union for each set of people, and then drops unions without which the others are still
 * enough.
 */
export function chooseUnions(choice: Choice): number[] {
  const { segments, atoms, wanted, costOf } = choice;
  const needed = new Set(wanted.flatMap((set) => [...unionWeights(set).keys()]));
  if (atoms.length === (1 << segments) - 1) return sorted(needed);
  const vector = (union: number) => atoms.map((atom) => (atom & union ? 1 : 0));
  const targets = wanted.map((set) => atoms.map((atom) => set[atom]!));
  const candidates = cheapestOfEach((1 << segments) - 1, vector, costOf);
  const isEnough = (unions: readonly number[]) => {
    const span = new Span(unions.map(vector));
    return targets.every((target) => span.has(target));
  };
  return segments <= EXHAUSTIVE_SEGMENTS
    ? cheapestSelection(candidates, costOf, isEnough)
    : withoutReplaceable(candidates, costOf, isEnough);
}

/** Returns one union for each set of people. If several unions contain the same people, picks the cheapest one. */
function cheapestOfEach(
  all: number,
  vector: (union: number) => number[],
  costOf: (union: number) => number,
): number[] {
  const best = new Map<string, number>();
  for (let union = 1; union <= all; union++) {
    const key = vector(union).join('');
    const other = best.get(key);
    if (other === undefined || costOf(union) < costOf(other)) best.set(key, union);
  }
  return [...best.values()];
}

function cheapestSelection(
  candidates: number[],
  costOf: (union: number) => number,
  isEnough: (unions: readonly number[]) => boolean,
): number[] {
  const free = candidates.filter((union) => costOf(union) === 0);
  const paid = candidates.filter((union) => costOf(union) > 0);
  let best = candidates;
  let least = Number.POSITIVE_INFINITY;
  for (let selection = 0; selection < 1 << paid.length; selection++) {
    const chosen = paid.filter((_, i) => selection & (1 << i));
    const cost = chosen.reduce((sum, union) => sum + costOf(union), 0);
    if (cost >= least || !isEnough([...free, ...chosen])) continue;
    [best, least] = [[...free, ...chosen], cost];
  }
  return sorted(withoutReplaceable(best, costOf, isEnough));
}

/** Drops each union without which the remaining unions are still enough, starting with the most expensive one. */
function withoutReplaceable(
  candidates: number[],
  costOf: (union: number) => number,
  isEnough: (unions: readonly number[]) => boolean,
): number[] {
  let kept = candidates;
  for (const union of [...candidates].sort((a, b) => costOf(b) - costOf(a) || b - a)) {
    const rest = kept.filter((other) => other !== union);
    if (isEnough(rest)) kept = rest;
  }
  return sorted(kept);
}

function sorted(unions: Iterable<number>): number[] {
  return [...unions].sort((a, b) => a - b);
}
