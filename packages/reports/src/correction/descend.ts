/**
 * Finds a start for reports in groups. The time of a fit grows with the cube of its unknowns, so all groups together take
 * much longer than one after the other. Each group is fitted by itself, to what the other groups leave of the answers about
 * several groups. This is repeated until it changes little.
 */
import { type KindsOfPeople, NOBODY, type Problem } from './problem.ts';
import { Search } from './search.ts';
import { System } from './system.ts';

/** The maximum number of rounds. If answers about several groups are much more exact than the others, rounds change little. */
const MOST_ROUNDS = 40;
/** The start is good enough if a round decreases χ² by less than this. */
const CLOSE = 1e-3;

/** Returns kinds of people, and numbers of them that fit the answers nearly as well as possible. */
export function descend(problem: Problem): KindsOfPeople {
  if (problem.groups.length < 2) return NOBODY;
  // Bounds tie people so tightly to counts of events that neither could change without the other.
  const system = new System({ ...problem, counts: [], constraints: [], population: undefined });
  const searches = problem.groups.map(({ best, partOf }) => {
    const search = new Search(system, best);
    search.squares.retarget(Float64Array.from(partOf(problem.values)));
    search.run();
    return search;
  });
  let before = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    for (const search of searches) {
      const others = searches.filter((other) => other !== search);
      search.squares.retarget(others.reduce((rest, { squares }) => squares.restOf(rest), system.target));
      search.run();
    }
    const { chiSquared } = searches.at(-1)!.squares;
    if (before - chiSquared < CLOSE) break;
    before = chiSquared;
  }
  return {
    columns: searches.flatMap(({ squares }) => squares.used.map(({ column }) => column)),
    people: searches.flatMap(({ squares }) => squares.coefficients),
  };
}
