/**
 * Plans a report. A plan lists a small number of needs, which are the numbers to measure, and the noise of each need.
 * All figures can be computed from these needs.
 */
import type { ReportDefinition } from '../definition/definition.ts';
import { cellClasses } from '../needs/cellClasses.ts';
import { dataProvidersOf, groupId, keyOf, periodId } from '../needs/need.ts';
import { possibleAtoms } from '../sets/atoms.ts';
import { type BlockNeed, planBlock } from './block.ts';
import { expandFigures, type WantedFigure } from './expand.ts';
import { sliceFinder } from './groups.ts';
import { splitNoise } from './noise.ts';
import { placeLister } from './spec.ts';
import { PlanError, type Surroundings } from './surroundings.ts';
import type { Place, Plan, PlannedNeed, UnpricedNeed } from './types.ts';

export async function planReport(definition: ReportDefinition, surroundings: Surroundings): Promise<Plan> {
  const segments = Object.keys(definition.segments);
  const atoms = possibleAtoms(segments.length, cellClasses(Object.values(definition.segments)));
  const blocks = new Map<string, WantedFigure[]>();
  const wanted = expandFigures(definition, surroundings);
  for (const figure of wanted) {
    const id = `${periodId(figure.period)} ${groupId(figure.group)}`;
    const block = blocks.get(id);
    if (block === undefined) blocks.set(id, [figure]);
    else block.push(figure);
  }
  const space = { definition, segments, atoms, surroundings, choices: new Map(), cells: new Map() };
  const planned = [];
  for (const block of blocks.values()) planned.push(await planBlock(space, block));
  const [placesOf, sliceOf] = [placeLister(surroundings), sliceFinder(surroundings)];
  const all = planned.flatMap((block) => block.needs);
  const needs = await Promise.all(
    all.map((each) => {
      const { need } = each;
      return unpricedNeed(each, surroundings, { places: placesOf(need), slice: sliceOf(need.group) });
    }),
  );
  const keys = new Map(needs.map(({ key, need }) => [need, key]));
  const terms = new Map(
    planned.flatMap((block) => block.figures.map((figure) => [figure.wanted, figure.terms] as const)),
  );
  const figures = wanted.map((figure) => ({
    ...figure,
    terms: terms.get(figure)!.map(({ need, weight }) => ({ key: keys.get(need)!, weight })),
  }));
  const { population } = surroundings;
  const priced = splitNoise({ definition, needs, figures, segments }, surroundings);
  return {
    ...{ definition, segments, atoms, figures, needs: priced, measurements: measurementsOf(priced) },
    ...(population !== undefined && { population }),
  };
}

async function unpricedNeed(
  { need, union }: BlockNeed,
  surroundings: Surroundings,
  charged: { places: Place[]; slice: string },
): Promise<UnpricedNeed> {
  const { answered } = surroundings;
  const dataProviders = dataProvidersOf(need);
  const key = await keyOf(need);
  const isReach = need.type === 'REACH' || need.type === 'REACH_AND_FREQUENCY';
  const computed =
    isReach && dataProviders.length > 1
      ? surroundings.computedBy(need.type as 'REACH', dataProviders)
      : undefined;
  if (isReach && dataProviders.length > 1 && computed === undefined) {
    throw new PlanError(
      `No duchies compute the ${need.type} of ${dataProviders.join(', ')} together: ask for one data provider at a time.`,
    );
  }
  return {
    ...{ key, need, union, dataProviders, ...charged, answered: answered?.has(key) ?? false },
    ...(computed && { computed }),
  };
}

/**
 * Groups needs into measurements. Counts of events become one measurement if they have different data providers, and
 * differ otherwise only in their cells (the parts of event groups that they count).
 */
function measurementsOf(needs: readonly PlannedNeed[]): string[][] {
  const together = new Map<string, { keys: string[]; providers: Set<string> }[]>();
  for (const { key, need, answered, dataProviders, params } of needs) {
    if (answered) continue;
    const { cells: _, ...rest } = need;
    const isSummed = need.type === 'IMPRESSION' || need.type === 'DURATION';
    const id = isSummed ? JSON.stringify([rest, params]) : key;
    const lists = together.get(id) ?? [];
    together.set(id, lists);
    const list = lists.find(({ providers }) => dataProviders.every((provider) => !providers.has(provider)));
    if (list === undefined) lists.push({ keys: [key], providers: new Set(dataProviders) });
    else {
      list.keys.push(key);
      for (const provider of dataProviders) list.providers.add(provider);
    }
  }
  return [...together.values()].flat().map(({ keys }) => keys);
}
