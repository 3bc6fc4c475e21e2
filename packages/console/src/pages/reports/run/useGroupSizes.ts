/** Computes the sizes of groups from the population of the report's model line, or from the default population. */
import type { Population } from '@measurement-exchange/contract';
import { useResource } from '../../../live/useResource.ts';
import type { SizeOf } from '../../../reports/charts.ts';

export function useGroupSizes(modelLine: string | undefined): SizeOf | undefined {
  const { data } = useResource(
    'populations',
    ['sizes', modelLine],
    async ({ client }, signal) => {
      const { populations } = await client.listPopulations({ pageSize: 1000, signal }).page();
      const isIts = (population: Population) =>
        modelLine === undefined ? population.default : population.modelLines?.includes(modelLine);
      return populations.find(isIts) ?? null;
    },
    { staleTime: 300_000 },
  );
  return data ? sizesIn(data) : undefined;
}

/**
 * Returns a function that computes the number of people in a group. It adds the sizes of the subpopulations that have
 * all attributes of the group.
 */
export function sizesIn({ subpopulations = [] }: Pick<Population, 'subpopulations'>): SizeOf {
  return (group) => {
    const matching = subpopulations.filter(({ attributes }) =>
      Object.entries(group).every(([name, value]) =>
        attributes.some((attribute) => attribute.name === name && attribute.value === value),
      ),
    );
    const ranges = matching.flatMap(({ vidRanges }) => vidRanges);
    return ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0) || undefined;
  };
}
