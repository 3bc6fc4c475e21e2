/** Defines the demo's population of virtual people, each with an age and a sex. */
import type { Subpopulation } from '@measurement-exchange/contract';

/** The attributes repeat after this many VIDs, so that the first 10,000 people include all groups. */
const CYCLE = 10_000;
const AGES: [age: string, share: number][] = [
  ['18-34', 0.3],
  ['35-54', 0.4],
  ['55+', 0.3],
];

/**
 * People of one sex and age. In each cycle of VIDs, they have the positions from `start` (included) to `end`
 * (excluded). The first position in a cycle is 0.
 */
export interface DemoGroup {
  sex: string;
  age: string;
  start: number;
  end: number;
}

export const DEMO_GROUPS: readonly DemoGroup[] = demoGroups();

function demoGroups(): DemoGroup[] {
  let start = 0;
  return ['F', 'M'].flatMap((sex) =>
    AGES.map(([age, share]) => {
      const group = { sex, age, start, end: start + Math.round((CYCLE * share) / 2) };
      start = group.end;
      return group;
    }),
  );
}

/** Returns an SQL expression for the position of a VID in its cycle. */
export const positionInCycle = (vid: string) => `((${vid} - 1) % ${CYCLE})`;

/** Returns the subpopulations of the VIDs from 1 to `people`. */
export function demoSubpopulations(people: number): Subpopulation[] {
  return DEMO_GROUPS.map(({ sex, age, start, end }) => {
    const vidRanges = [];
    for (let first = 1; first + start <= people; first += CYCLE) {
      vidRanges.push({ start: first + start, end: Math.min(first + end - 1, people) });
    }
    return {
      attributes: [
        { name: 'age', value: age },
        { name: 'sex', value: sex },
      ],
      vidRanges,
    };
  }).filter(({ vidRanges }) => vidRanges.length > 0);
}

const DEMO_PEOPLE = 1_000_000;

export const DEMO_POPULATION = {
  id: 'demo',
  displayName: 'Demo population',
  vidRanges: [{ start: 1, end: DEMO_PEOPLE }],
  subpopulations: demoSubpopulations(DEMO_PEOPLE),
  default: true,
};
