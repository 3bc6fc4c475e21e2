/** Validates and compares the subpopulations of a population. */
import type { Subpopulation, VidRange, Violation } from '@measurement-exchange/contract';
import { ascending, rangeViolations } from './vidRanges.ts';

/** The maximum number of ranges in all subpopulations together. */
const MAX_RANGES = 1000;

/**
 * Reports too many ranges, ranges that end before they start, overlapping ranges, and ranges outside the population's
 * ranges. Also reports repeated attribute names in a subpopulation. The ranges in `population` must be in ascending
 * order.
 */
export function subpopulationViolations(
  subpopulations: readonly Subpopulation[],
  population: readonly VidRange[],
): Violation[] {
  const ranges = subpopulations.flatMap(({ vidRanges }, i) =>
    vidRanges.map((range, j) => ({ ...range, field: `subpopulations[${i}].vidRanges[${j}]` })),
  );
  if (ranges.length > MAX_RANGES) {
    return [{ field: 'subpopulations', description: `must have at most ${MAX_RANGES} ranges together` }];
  }
  const outside = ranges
    .filter((range) => range.start <= range.end && !isWithin(range, population))
    .map(({ field }) => ({ field, description: 'is not within vidRanges' }));
  return [...subpopulations.flatMap(attributeViolations), ...rangeViolations(ranges), ...outside];
}

function attributeViolations({ attributes }: Subpopulation, i: number): Violation[] {
  const names = attributes.map(({ name }) => name);
  return names.flatMap((name, j) =>
    names.indexOf(name) === j
      ? []
      : [{ field: `subpopulations[${i}].attributes[${j}].name`, description: 'repeats an earlier one' }],
  );
}

/**
 * Returns whether `ranges` contain all VIDs from `start` to `end`. `ranges` must be in ascending order, and may be
 * adjacent.
 */
function isWithin({ start, end }: VidRange, ranges: readonly VidRange[]): boolean {
  let next = start;
  for (const range of ranges) {
    if (range.start <= next && next <= range.end) next = range.end + 1;
    if (next > end) return true;
  }
  return false;
}

/** Returns the subpopulations with their ranges in ascending order. */
export function storedSubpopulations(subpopulations: readonly Subpopulation[]): Subpopulation[] {
  return subpopulations.map(({ attributes, vidRanges }) => ({ attributes, vidRanges: ascending(vidRanges) }));
}

/**
 * Returns whether both lists have the same subpopulations in the same order. The order of the attributes and ranges
 * within a subpopulation does not matter.
 */
export function sameSubpopulations(a: readonly Subpopulation[], b: readonly Subpopulation[]): boolean {
  return textOf(a) === textOf(b);
}

function textOf(subpopulations: readonly Subpopulation[]): string {
  return JSON.stringify(
    storedSubpopulations(subpopulations).map(({ attributes, vidRanges }) => [
      attributes.map(({ name, value }) => [name, value]).sort(),
      vidRanges.map(({ start, end }) => [start, end]),
    ]),
  );
}
