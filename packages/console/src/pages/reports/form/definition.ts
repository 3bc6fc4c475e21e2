/** The form of a new report, and its conversion to a definition. */
import type { EventGroup } from '@measurement-exchange/contract';
import type { FigureRequest, Periods, ReportDefinition } from '@measurement-exchange/reports';
import { idOf } from '../../../session/roles.ts';
import { addDays, type DayRange } from '../../ask/days/days.ts';
import type { AskForm } from '../../ask/form/form.ts';

export interface ReportForm extends Pick<AskForm, 'title' | 'groups' | 'days' | 'filter'> {
  /** One segment for each publisher, or one for each event group. */
  segmentsBy: 'publisher' | 'eventGroup';
  /** Names that the user has given to segments, keyed by each segment's default name. */
  names: Readonly<Record<string, string>>;
  sets: readonly NamedSet[];
  hasOverlap: boolean;
  overTime: 'none' | 'weekly' | 'daily';
  hasFrequency: boolean;
  maximumFrequency: number;
  hasImpressions: boolean;
  hasWatchTime: boolean;
  /** Attributes of the population by which to break down the reach. */
  groupBy: readonly string[];
  /**
   * The wanted margin of error of the total reach (half of its 95 % interval), in percent of this reach. If undefined,
   * all measurements share the budget evenly.
   */
  precision: number | undefined;
  /** The share of a usual daily budget that the report may use. */
  budgetShare: number;
}

export interface NamedSet {
  id: number;
  name: string;
  expression: string;
}

export const DEFAULTS: ReportForm = {
  ...{ title: '', groups: [], days: undefined, filter: '', segmentsBy: 'publisher', names: {}, sets: [] },
  ...{ hasOverlap: true, overTime: 'weekly', hasFrequency: true, maximumFrequency: 10 },
  ...{ hasImpressions: true, hasWatchTime: false, groupBy: [], precision: undefined, budgetShare: 0.1 },
};

/** The rho of a publisher's usual daily budget. The form asks for Gaussian noise, which is charged in rho. */
export const USUAL_RHO = 1;
const DELTA = 1e-9;

/**
 * The names of the sets that the form adds: the union and the intersection of all segments. No segment may have one of
 * these names.
 */
export const ALL = 'all';
export const IN_ALL = 'inAll';
const GROUPS = 'people';

export interface FormSegment {
  /** The default name. It identifies the segment even if the user changes `name`. */
  key: string;
  name: string;
  dataProvider: string;
  eventGroups: string[];
}

/** Returns the segments of the picked event groups, with names that sets can use. */
export function segmentsOf({ segmentsBy, names }: ReportForm, picked: readonly EventGroup[]): FormSegment[] {
  const parts = Map.groupBy(picked, (group) =>
    segmentsBy === 'publisher'
      ? group.dataProvider!
      : `${group.dataProvider} ${referenceOf(group)} ${group.name}`,
  );
  const taken = new Set([ALL, IN_ALL]);
  return [...parts.values()].map((groups) => {
    const { dataProvider = '' } = groups[0]!;
    const wanted =
      segmentsBy === 'publisher' ? idOf(dataProvider) : `${idOf(dataProvider)}_${referenceOf(groups[0]!)}`;
    const key = unused(identifier(wanted), taken);
    taken.add(key);
    return {
      ...{ key, dataProvider, name: names[key] ?? key },
      eventGroups: groups.map(({ name }) => `${dataProvider}/eventGroups/${idOf(name!)}`),
    };
  });
}

const referenceOf = ({ name, eventGroupReferenceId }: EventGroup) => eventGroupReferenceId || idOf(name!);

/**
 * Returns a name for set expressions: a letter, then letters, digits or _. It has at most 36 characters, which leaves
 * room for a suffix.
 */
function identifier(text: string): string {
  const safe = text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return (/^[A-Za-z]/.test(safe) ? safe : `s_${safe}`).slice(0, 36);
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let [found, i] = [name, 2];
  while (taken.has(found)) found = `${name}_${i++}`;
  return found;
}

export function definitionOf(
  form: ReportForm,
  { segments, days, title }: { segments: readonly FormSegment[]; days: DayRange; title: string },
): ReportDefinition {
  const names = segments.map(({ name }) => name);
  const filter = form.filter.trim();
  const all = names.length > 1 ? ALL : names[0]!;
  return {
    title,
    interval: { start: days.from, end: addDays(days.until, 1), timeZone: 'UTC' },
    segments: Object.fromEntries(
      segments.map(({ name, eventGroups }) => [name, { eventGroups, ...(filter !== '' && { filter }) }]),
    ),
    ...setsOf(form, names),
    ...(form.groupBy.length > 0 && { groups: { [GROUPS]: { by: [...form.groupBy] } } }),
    figures: figuresOf(form, names, all),
    budget: { rho: form.budgetShare * USUAL_RHO, delta: DELTA },
  };
}

/** Returns a problem for each name of a segment or set that is used twice, because a definition has each name once. */
export function nameProblems(
  form: ReportForm,
  segments: readonly FormSegment[],
): { field: string; description: string }[] {
  const ofSegments = segments.map(({ name }) => name);
  const ofSets = own(form).map(({ name }) => name.trim());
  const reserved = ofSegments.length > 1 ? [ALL, ...(form.hasOverlap ? [IN_ALL] : [])] : [];
  const isTwice = (name: string, i: number, names: readonly string[]) => names.indexOf(name) !== i;
  return [
    ...ofSegments
      .filter(isTwice)
      .map((name) => ({ field: `segments[${name}]`, description: 'is the name of two segments' })),
    ...ofSets
      .filter(isTwice)
      .map((name) => ({ field: `sets[${name}]`, description: 'is the name of two sets' })),
    ...ofSets
      .filter((name) => reserved.includes(name))
      .map((name) => ({ field: `sets[${name}]`, description: 'is the name of a set that the form adds' })),
  ];
}

function setsOf(form: ReportForm, names: readonly string[]): Pick<ReportDefinition, 'sets'> {
  const sets = {
    ...(names.length > 1 && { [ALL]: names.join(' | ') }),
    ...(form.hasOverlap && names.length > 1 && { [IN_ALL]: names.join(' & ') }),
    ...Object.fromEntries(own(form).map(({ name, expression }) => [name.trim(), expression.trim()])),
  };
  return Object.keys(sets).length > 0 ? { sets } : {};
}

/** Returns the sets that the user has entered, without sets whose name and expression are both empty. */
const own = ({ sets }: ReportForm) =>
  sets.filter(({ name, expression }) => name.trim() !== '' || expression.trim() !== '');

function figuresOf(form: ReportForm, names: readonly string[], all: string): FigureRequest[] {
  const { precision, maximumFrequency } = form;
  // To get the overlap of every combination of segments, ask for the intersection of all segments. The report then
  // measures the reach of every union of segments, and these reaches determine all overlaps.
  const overlap = form.hasOverlap && names.length > 1 ? [...names, IN_ALL] : [];
  const others = [...overlap, ...own(form).map(({ name }) => name.trim())];
  const periods: Periods = form.overTime === 'daily' ? 'daily' : 'weekly(MONDAY)';
  return [
    { metric: 'reach', of: [all], ...(precision !== undefined && { precision: `${precision} %` }) },
    ...(others.length > 0 ? [{ metric: 'reach' as const, of: others }] : []),
    ...(form.overTime === 'none' ? [] : [{ metric: 'reach' as const, of: [all], periods, cumulative: true }]),
    ...(form.hasFrequency ? [{ metric: 'frequency' as const, of: [all], maximumFrequency }] : []),
    ...(form.hasImpressions ? [{ metric: 'impressions' as const, of: [all] }] : []),
    ...(form.hasWatchTime ? [{ metric: 'watchDuration' as const, of: [all] }] : []),
    ...(form.groupBy.length > 0 ? [{ metric: 'reach' as const, of: [all], groups: GROUPS }] : []),
  ];
}
