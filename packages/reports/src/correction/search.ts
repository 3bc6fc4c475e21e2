/** Adds kinds of people (see people.ts) to a least-squares fit until no further kind would improve the fit. */
import { dotSparse, LeastSquares } from './leastSquares.ts';
import type { PeopleGroup } from './people.ts';
import { type KindsOfPeople, NOBODY } from './problem.ts';
import { SolveError } from './solveError.ts';
import type { System, Unknown } from './system.ts';

/**
 * An unknown is added to the fit only if its gain (see `gainOf`) exceeds both TOLERANCE and RELATIVE_TOLERANCE · χ².
 * With higher tolerances, the fit would leave out kinds that lower χ² only a little. The χ² test would then assume too
 * many degrees of freedom.
 */
const TOLERANCE = 1e-9;
const RELATIVE_TOLERANCE = 1e-12;
/**
 * The maximum number of unknowns to add at once, and the minimum gain of each one as a fraction of the largest gain.
 */
const [BATCH, BATCH_GAIN] = [8, 0.5];

export class Search {
  readonly squares: LeastSquares<Unknown>;
  private readonly system: System;
  private readonly best: PeopleGroup['best'];
  /** All unknowns found so far, including the unknowns that the fit does not use. */
  private readonly pool: Unknown[];
  private readonly known: Set<string>;

  /**
   * `best` finds kinds of people that may improve the fit. `always` contains other unknowns, which are available from
   * the start. The search starts from the kinds and numbers of people in `start`.
   */
  constructor(
    system: System,
    best: PeopleGroup['best'],
    { always = [], start = NOBODY }: { always?: readonly Unknown[]; start?: KindsOfPeople } = {},
  ) {
    this.system = system;
    this.best = best;
    this.pool = [...always, ...start.columns.map((column) => system.person(column))];
    this.known = new Set(start.columns.map((column) => column.join()));
    this.squares = new LeastSquares(system.target, system.precision);
    if (start.columns.length > 0) this.squares.start(this.pool, [...always.map(() => 0), ...start.people]);
  }

  /**
   * Adds unknowns until no unknown improves the fit. Throws `SolveError` if the fit still improves after a very large
   * number of steps.
   */
  run(): void {
    const { squares, system, pool, known } = this;
    const most = 100 * (system.target.length + 10);
    for (let round = 0; round < most; round++) {
      const least = toleranceAt(squares.chiSquared);
      if (addBest(squares, gainsIn(pool, squares, least))) continue;
      const { rewards, price } = system.rewards(squares.rewards);
      const added = this.best(rewards, price)
        .filter(({ id }) => !known.has(id))
        .map(({ id, column }) => ({ id, one: system.person(column) }))
        .filter(({ one }) => gainOf(one, squares.rewards) > least);
      if (added.length === 0) return;
      for (const { id, one } of added) {
        known.add(id);
        pool.push(one);
      }
    }
    throw new SolveError(`The correction does not end after ${most} steps.`);
  }
}

/** Returns the unknowns that would improve the fit, with the largest gain first. */
function gainsIn(
  pool: readonly Unknown[],
  { used, rewards }: LeastSquares<Unknown>,
  least: number,
): { one: Unknown; gain: number }[] {
  const isUsed = new Set(used);
  const gains: { one: Unknown; gain: number }[] = [];
  for (const one of pool) {
    const gain = isUsed.has(one) ? 0 : gainOf(one, rewards);
    if (gain > least) gains.push({ one, gain });
  }
  return gains.sort((a, b) => b.gain - a.gain);
}

/**
 * Adds the unknowns with the largest gains, all at once. If χ² does not decrease, tries the remaining unknowns one by
 * one until one of them stays in the fit. Returns false if χ² does not decrease and none of them stays.
 */
function addBest(squares: LeastSquares<Unknown>, gains: readonly { one: Unknown; gain: number }[]): boolean {
  if (gains.length === 0) return false;
  const before = squares.chiSquared;
  const batch = gains.slice(0, BATCH).filter(({ gain }) => gain >= gains[0]!.gain * BATCH_GAIN);
  squares.add(batch.map(({ one }) => one));
  // Accept even a small decrease. Some kinds of people lower χ² only a little at first, because a constraint limits
  // them. They lower it further once the slack of this constraint is added.
  if (squares.chiSquared < before) return true;
  // Add the unused unknown with the largest gain. If it does not stay in the fit, for example because it is a linear
  // combination of used unknowns, try the one with the next-largest gain, and so on.
  return gains.some(({ one }) => !squares.used.includes(one) && squares.add([one]));
}

export const toleranceAt = (chiSquared: number) => Math.max(TOLERANCE, RELATIVE_TOLERANCE * chiSquared);

/** Returns how much χ² falls if this unknown takes its best value and the others, except slack, keep their values. */
export function gainOf(one: Unknown, rewards: Float64Array): number {
  const reward = dotSparse(one, rewards);
  return reward <= 0 ? 0 : reward ** 2 / one.square;
}
