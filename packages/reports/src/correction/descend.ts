/**
 * Finds a starting solution for a report with several groups. The time of a fit grows with the cube of the number of
 * unknowns, so fitting all groups together takes much longer than fitting the groups one by one. Each round fits every
 * group once. To fit a group, it subtracts the people of all other groups from the answers, and fits what is left. The
 * rounds end when χ² hardly decreases.
 */
import { type KindsOfPeople, NOBODY, type Problem } from './problem.ts';
import { Search } from './search.ts';
import { System } from './system.ts';

/**
 * The maximum number of rounds. If answers about several groups are much more exact than the other answers, each round
 * improves the fit so little that more rounds would not be worth the time.
 */
const MOST_ROUNDS = 40;
/** The rounds end if a round decreases χ² by less than this amount. */
const CLOSE = 1e-3;

/**
 * Returns kinds of people, and the number of people of each kind. These numbers fit the answers almost optimally.
 * Returns NOBODY if there is only one group.
 */
export function descend(problem: Problem): KindsOfPeople {
  if (problem.groups.length < 2) return NOBODY;
  // Fit only numbers of people, and leave out event counts and bounds. Bounds tie people and event counts together so
  // tightly that changing only the people or only the event counts could not improve the fit.
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
