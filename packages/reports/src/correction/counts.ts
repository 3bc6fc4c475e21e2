/**
 * Bounds that connect counts of events with reaches. Each person reached has at least one impression. Each data
 * provider limits the count of each person's events to a maximum, the cap.
 */
import type { Cell } from '../needs/need.ts';
import type { Row } from './answers.ts';
import type { Constraint } from './problem.ts';

/**
 * Returns bounds for the counts of events. Suppose that n counts together cover each event of a union of segments
 * exactly once. Each count includes at most `cap` events of each person reached, so all counts add up to at most n ·
 * cap · (reach of the union). For impressions, the sum is also at least Σ k · (people at frequency k), unless the cap
 * is below the highest frequency.
 */
export function countConstraints(rows: readonly Row[], covariance: readonly Float64Array[]): Constraint[] {
  const deviations = covariance.map((row, i) => Math.sqrt(row[i]!));
  const indexes = new Map(rows.map((row, i) => [row, i]));
  const blocks = Map.groupBy(rows, ({ planned: { need } }) => JSON.stringify([need.period, need.group]));
  return [...blocks.values()].flatMap((block) => {
    const kinds = Map.groupBy(block, ({ planned: { need } }) =>
      JSON.stringify([need.type, need.maximumPerPerson]),
    );
    const counts = [...kinds.values()].filter(([row]) => row!.planned.need.maximumPerPerson !== undefined);
    const reaches = Map.groupBy(
      block.filter(({ planned }) => planned.need.maximumPerPerson === undefined),
      ({ planned }) => planned,
    );
    return [...reaches.values()].flatMap((reach) =>
      counts
        .flatMap((count) => bounds(reach, partition(reach[0]!, count), (row) => indexes.get(row)!))
        .map((constraint) => scaled(constraint, deviations)),
    );
  });
}

/**
 * Scales a constraint so that its standard deviation equals the median standard deviation of the answers. With larger
 * weights, the constraint would dominate the fit, and the solver could not distinguish groups of people. With smaller
 * weights, the fit could violate the constraint.
 */
function scaled(constraint: Constraint, deviations: readonly number[]): Constraint {
  const usual = deviations.toSorted((a, b) => a - b)[deviations.length >> 1]!;
  const own = Math.hypot(...[...constraint].map(([row, weight]) => weight * deviations[row]!));
  return new Map([...constraint].map(([row, weight]) => [row, (weight * usual) / own]));
}

/**
 * Returns the counts that together cover each event of the union exactly once, or an empty list if there are no such
 * counts.
 */
function partition(union: Row, counts: readonly Row[]): Row[] {
  const id = (cell: Cell) => JSON.stringify(cell);
  const wanted = new Set(union.planned.need.cells.map(id));
  const inside = counts.filter(({ planned }) => planned.need.cells.every((cell) => wanted.has(id(cell))));
  const cells = inside.flatMap(({ planned }) => planned.need.cells.map(id));
  return cells.length === wanted.size && new Set(cells).size === wanted.size ? inside : [];
}

function bounds(reach: readonly Row[], counts: readonly Row[], indexOf: (row: Row) => number): Constraint[] {
  if (counts.length === 0) return [];
  const { type, maximumPerPerson: cap } = counts[0]!.planned.need;
  const highest = reach.length;
  const signed = (sign: number) => counts.map((row) => [indexOf(row), sign] as const);
  // Each data provider applies the cap separately, so a person can reach the cap at every provider.
  const upper = new Map([
    ...reach.map((row) => [indexOf(row), cap! * counts.length] as const),
    ...signed(-1),
  ]);
  // A data provider may have applied a lower cap than it was asked to apply.
  const least = Math.min(cap!, ...counts.map(({ answer }) => answer.cap ?? cap!));
  if (type !== 'IMPRESSION' || cap! < highest) return [upper];
  return [
    new Map([
      ...reach.map((row) => [indexOf(row), -Math.min(row.frequency ?? 1, least)] as const),
      ...signed(1),
    ]),
    upper,
  ];
}

/**
 * Restores the bounds that rounding has broken. Changes the largest count of each of these bounds by as little as
 * necessary.
 */
export function settleCounts(
  values: Float64Array,
  constraints: readonly Constraint[],
  isReach: (row: number) => boolean,
): void {
  for (const constraint of constraints) {
    const sum = [...constraint].reduce((total, [row, weight]) => total + weight * values[row]!, 0);
    if (sum >= 0) continue;
    const counts = [...constraint].filter(([row]) => !isReach(row));
    const [largest, weight] = counts.reduce((a, b) => (values[b[0]]! > values[a[0]]! ? b : a));
    values[largest]! -= Math.round(sum / weight);
  }
}
