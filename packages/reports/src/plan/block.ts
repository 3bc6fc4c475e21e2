/** Plans the figures of one period and group. */
import { expressionOf, type ReportDefinition } from '../definition/definition.ts';
import { DEFAULT_FREQUENCY, DEFAULT_IMPRESSIONS_CAP, DEFAULT_SECONDS_CAP } from '../definition/schema.ts';
import { type Cell, cellsOf, dataProviderOf, keyOf, type Need } from '../needs/need.ts';
import { type AtomSet, atomsOf, unionWeights } from '../sets/atoms.ts';
import { chooseUnions } from '../sets/chooseUnions.ts';
import { Span } from '../sets/span.ts';
import type { WantedFigure } from './expand.ts';
import type { Surroundings } from './surroundings.ts';

export interface Space {
  definition: ReportDefinition;
  segments: readonly string[];
  atoms: readonly number[];
  surroundings: Surroundings;
  /**
   * Caches the unions that were chosen for a block (a period and a group), because most blocks need the same sets. The
   * key consists of the wanted sets, the unions with frequencies, and the answered unions.
   */
  choices: Map<string, Chosen>;
  /** Caches the cells of each union. */
  cells: Map<number, Cell[]>;
}

interface Chosen {
  unions: number[];
  weights: Map<string, { union: number; weight: number }[]>;
}

export interface BlockNeed {
  need: Need;
  union: number;
}

export interface BlockPlan {
  needs: BlockNeed[];
  figures: { wanted: WantedFigure; terms: { need: Need; weight: number }[] }[];
}

/**
 * The extra cost of a union for each data provider in it, so that the planner prefers unions of few providers. The base
 * cost of a union is 1.
 */
const COST_OF_PROVIDERS = 0.001;

export async function planBlock(space: Space, wanted: readonly WantedFigure[]): Promise<BlockPlan> {
  const frequencies = frequenciesOf(space, wanted);
  const reaches = wanted.filter(({ request }) => request.metric === 'reach');
  const [{ period, group }] = wanted as [WantedFigure];
  const base = baseNeed(space, { period, group });
  const reachNeed = (union: number): Need => ({ ...base, type: 'REACH', cells: cellsOfUnion(space, union) });
  const frequencyNeed = (
    union: number,
    maximumFrequency = frequencies.get(union) ?? DEFAULT_FREQUENCY,
  ): Need => ({
    ...reachNeed(union),
    type: 'REACH_AND_FREQUENCY',
    maximumFrequency,
  });
  const answered = await answeredUnions(space, reachNeed, (union) => frequencyNeed(union));
  const chosen = choose(space, reaches, frequencies, answered);
  const byUnion = new Map<number, Need>();
  // Unions of nested segments may have the same events. They share one need, because each need is measured once.
  const same = Map.groupBy(new Set([...chosen.unions, ...frequencies.keys()]), (union) =>
    JSON.stringify(cellsOfUnion(space, union)),
  );
  for (const unions of same.values()) {
    const union = unions[0]!;
    const wantedFrequency = Math.max(0, ...unions.map((each) => frequencies.get(each) ?? 0)) || undefined;
    const withFrequency =
      wantedFrequency !== undefined || unions.some((each) => answered.get(each) === 'REACH_AND_FREQUENCY');
    const need = withFrequency ? frequencyNeed(union, wantedFrequency) : reachNeed(union);
    for (const each of unions) byUnion.set(each, need);
  }
  const counts = new Map<string, BlockNeed>();
  const figures = wanted.map((figure) => {
    const { metric } = figure.request;
    if (metric === 'reach') {
      const terms = chosen.weights.get(figure.of)!;
      return {
        wanted: figure,
        terms: together(terms.map(({ union, weight }) => ({ need: byUnion.get(union)!, weight }))),
      };
    }
    const union = unionOf(space, figure.of);
    if (metric === 'frequency') return { wanted: figure, terms: [{ need: byUnion.get(union)!, weight: 1 }] };
    return { wanted: figure, terms: countTerms(space, figure, union, base, counts) };
  });
  const needs = [
    ...[...same.values()].map(([union]) => ({ need: byUnion.get(union!)!, union: union! })),
    ...counts.values(),
  ];
  return { needs, figures };
}

/** Adds the weights of terms with the same need. */
function together(terms: { need: Need; weight: number }[]): { need: Need; weight: number }[] {
  const weights = new Map<Need, number>();
  for (const { need, weight } of terms) weights.set(need, (weights.get(need) ?? 0) + weight);
  return [...weights].map(([need, weight]) => ({ need, weight })).filter(({ weight }) => weight !== 0);
}

function baseNeed(
  { definition, surroundings }: Space,
  { period, group }: Pick<WantedFigure, 'period' | 'group'>,
) {
  const { modelLine } = definition;
  const vidSamplingInterval = surroundings.vidSamplingInterval ?? { start: 0, width: 1 };
  return { period, group, vidSamplingInterval, ...(modelLine !== undefined && { modelLine }) };
}

function cellsOfUnion({ definition, segments, cells }: Space, union: number): Cell[] {
  const known = cells.get(union);
  if (known !== undefined) return known;
  const own = cellsOf(segments.filter((_, i) => union & (1 << i)).map((name) => definition.segments[name]!));
  cells.set(union, own);
  return own;
}

/** Returns the segments that make up a union, as a bit mask. */
function unionOf({ definition, segments }: Space, name: string): number {
  const set = atomsOf(expressionOf(definition, name), segments);
  return segments.reduce((union, _, i) => union | (set[1 << i] ? 1 << i : 0), 0);
}

/** Returns the unions whose frequencies are wanted, each with the highest frequency that is wanted. */
function frequenciesOf(space: Space, wanted: readonly WantedFigure[]): Map<number, number> {
  const frequencies = new Map<number, number>();
  for (const { request, of } of wanted) {
    if (request.metric !== 'frequency') continue;
    const union = unionOf(space, of);
    frequencies.set(
      union,
      Math.max(frequencies.get(union) ?? 0, request.maximumFrequency ?? DEFAULT_FREQUENCY),
    );
  }
  return frequencies;
}

async function answeredUnions(
  { segments, surroundings }: Space,
  ...kinds: ((union: number) => Need)[]
): Promise<Map<number, Need['type']>> {
  const found = new Map<number, Need['type']>();
  const { answered } = surroundings;
  if (answered === undefined || answered.size === 0) return found;
  const unions = Array.from({ length: (1 << segments.length) - 1 }, (_, i) => i + 1);
  await Promise.all(
    unions.flatMap((union) =>
      kinds.map(async (needFor) => {
        const need = needFor(union);
        if (answered.has(await keyOf(need))) found.set(union, need.type);
      }),
    ),
  );
  return found;
}

function choose(
  space: Space,
  reaches: readonly WantedFigure[],
  frequencies: ReadonlyMap<number, number>,
  answered: ReadonlyMap<number, string>,
): Chosen {
  const names = [...new Set(reaches.map(({ of }) => of))].sort();
  const id = JSON.stringify([names, [...frequencies.keys()], [...answered.keys()].sort()]);
  const known = space.choices.get(id);
  if (known !== undefined) return known;
  const { definition, segments, atoms } = space;
  const sets = new Map(names.map((name) => [name, atomsOf(expressionOf(definition, name), segments)]));
  const costOf = (union: number) => {
    if (frequencies.has(union) || answered.has(union)) return 0;
    const providers = new Set(cellsOfUnion(space, union).map(({ eventGroup }) => dataProviderOf(eventGroup)));
    return 1 + COST_OF_PROVIDERS * providers.size;
  };
  const unions = chooseUnions({ segments: segments.length, atoms, wanted: [...sets.values()], costOf });
  const weights = new Map([...sets].map(([name, set]) => [name, weightsFor(space, set, unions)]));
  const chosen = { unions, weights };
  space.choices.set(id, chosen);
  return chosen;
}

function weightsFor(
  { segments, atoms }: Space,
  set: AtomSet,
  unions: readonly number[],
): { union: number; weight: number }[] {
  if (atoms.length === (1 << segments.length) - 1) {
    return [...unionWeights(set)].map(([union, weight]) => ({ union, weight }));
  }
  const span = new Span(unions.map((union) => atoms.map((atom) => (atom & union ? 1 : 0))));
  const weights = span.weightsOf(atoms.map((atom) => set[atom]!))!;
  return unions
    .map((union, i) => ({ union, weight: Math.round(weights[i]! * 1e9) / 1e9 }))
    .filter(({ weight }) => weight !== 0);
}

/** Returns one term for each data provider. The counts can be added, because no event belongs to two providers. */
function countTerms(
  space: Space,
  { request }: WantedFigure,
  union: number,
  base: ReturnType<typeof baseNeed>,
  counts: Map<string, BlockNeed>,
): { need: Need; weight: number }[] {
  const type = request.metric === 'impressions' ? 'IMPRESSION' : 'DURATION';
  const maximumPerPerson =
    request.maximumPerPerson ?? (type === 'IMPRESSION' ? DEFAULT_IMPRESSIONS_CAP : DEFAULT_SECONDS_CAP);
  const cells = cellsOfUnion(space, union);
  return [...new Set(cells.map(({ eventGroup }) => dataProviderOf(eventGroup)))].map((provider) => {
    const own = cells.filter(({ eventGroup }) => dataProviderOf(eventGroup) === provider);
    const need: Need = { ...base, type, cells: own, maximumPerPerson };
    const id = JSON.stringify([type, own, maximumPerPerson]);
    const known = counts.get(id);
    if (known === undefined) counts.set(id, { need, union });
    return { need: known?.need ?? need, weight: 1 };
  });
}
