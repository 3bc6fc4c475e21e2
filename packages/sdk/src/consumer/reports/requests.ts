/** Turns needs into requests for measurements, and finds out whether a measurement answers a need. */
import type { PrivacyParams } from '@measurement-exchange/contract';
import {
  type Cell,
  filterOf,
  type Group,
  type Need,
  type NeedType,
  type Plan,
  type PlannedNeed,
} from '@measurement-exchange/reports';
import { partyOf } from '../../client/names.ts';
import { readRequest } from '../readRequest.ts';
import type {
  MeasurementRequest,
  Question,
  ReadRequest,
  RequestedDataProvider,
  RequestType,
} from '../request.ts';

const TYPES: Record<NeedType, RequestType> = {
  REACH: 'reach',
  REACH_AND_FREQUENCY: 'reachAndFrequency',
  IMPRESSION: 'impression',
  DURATION: 'duration',
};

type Asked = Pick<PlannedNeed, 'need' | 'params'>;

/** Returns the request that asks for all of these needs. The needs must be equal except for their data providers. */
export function requestFor(
  needs: readonly [Asked, ...Asked[]],
  more: Pick<MeasurementRequest, 'title' | 'requestId'> = {},
): MeasurementRequest {
  const [{ need, params }] = needs;
  const { type, vidSamplingInterval, modelLine } = need;
  return {
    ...more,
    type: TYPES[type],
    dataProviders: needs.flatMap(({ need }) => dataProvidersIn(need)),
    privacy: params,
    vidSampling: vidSamplingInterval,
    ...(modelLine !== undefined && { modelLine }),
    ...capOf(need),
  };
}

function capOf({ type, maximumFrequency, maximumPerPerson }: Need): Partial<MeasurementRequest> {
  switch (type) {
    case 'REACH':
      return {};
    case 'REACH_AND_FREQUENCY':
      return { maximumFrequency: maximumFrequency! };
    case 'IMPRESSION':
      return { maximumFrequencyPerUser: maximumPerPerson! };
    case 'DURATION':
      return { maximumWatchDurationSeconds: maximumPerPerson! };
  }
}

function dataProvidersIn({ cells, period, group }: Need): RequestedDataProvider[] {
  return [...Map.groupBy(cells, ({ eventGroup }) => partyOf(eventGroup))].map(([name, own]) => ({
    name,
    eventGroups: own.map((cell) => {
      const filter = cellFilter(cell, group);
      return { name: cell.eventGroup, interval: period, ...(filter !== undefined && { filter }) };
    }),
  }));
}

/** Returns a CEL filter for the cell's events that belong to people in the group, or undefined if all events match. */
function cellFilter(cell: Cell, group: Group): string | undefined {
  const events = filterOf(cell);
  const people = Object.entries(group).map(
    ([attribute, value]) => `person.${attribute} == ${JSON.stringify(value)}`,
  );
  if (people.length === 0) return events;
  return [...(events === undefined ? [] : [`(${events})`]), ...people].join(' && ');
}

const NO_NOISE: PrivacyParams = { epsilon: 1, delta: 0 };

/**
 * Returns whether a measurement's question (the request stored with the measurement) asks for the need. Ignores the
 * privacy parameters, because any amount of noise is acceptable.
 */
export function asksFor(question: Question, need: Need): boolean {
  const asked = readRequest(question);
  const wanted = readRequest(requestFor([{ need, params: NO_NOISE }]));
  const isSummed = need.type === 'IMPRESSION' || need.type === 'DURATION';
  const providers = new Set(wanted.dataProviders.map(({ name }) => name));
  // A measurement of impressions or watch durations may also ask other data providers, whose figures answer other
  // needs.
  const own = asked.dataProviders.filter(({ name }) => !isSummed || providers.has(name));
  return comparable({ ...asked, dataProviders: own }) === comparable(wanted);
}

/**
 * Returns a text for comparing requests. The text leaves out the privacy parameters, because needs can be answered
 * with any noise.
 */
function comparable({ spec, dataProviders }: ReadRequest): string {
  const { measurementType, vidSamplingInterval, modelLine } = spec;
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const sorted = dataProviders.toSorted(byName).map(({ name, selection }) => ({
    name,
    selected: 'eventGroups' in selection ? selection.eventGroups.toSorted(byName) : selection,
  }));
  return JSON.stringify([measurementType, vidSamplingInterval, modelLine ?? null, capIn(spec), sorted]);
}

function capIn(spec: ReadRequest['spec']): number | undefined {
  switch (spec.measurementType) {
    case 'REACH_AND_FREQUENCY':
      return spec.reachAndFrequency.maximumFrequency;
    case 'IMPRESSION':
      return spec.impression.maximumFrequencyPerUser;
    case 'DURATION':
      return spec.duration.maximumWatchDurationPerUser;
    default:
      return undefined;
  }
}

/**
 * Returns the needs (values that a report requires) that a question (a stored request) asks for. For impressions and
 * watch durations, each data provider has a need of its own.
 */
export function needsIn(question: Question): Need[] {
  const { spec, dataProviders } = readRequest(question);
  const type = Object.entries(TYPES).find(([, asked]) => asked === question.type)?.[0] as
    | NeedType
    | undefined;
  const selections = dataProviders.map(({ selection }) =>
    'eventGroups' in selection ? selection.eventGroups : [],
  );
  const intervals = new Set(selections.flat().map(({ interval }) => JSON.stringify(interval)));
  // A need has one period, so a question with several intervals answers no need.
  if (type === undefined || intervals.size !== 1) return [];
  const { start, end } = selections.flat()[0]!.interval;
  const [frequency, perPerson] = type === 'REACH_AND_FREQUENCY' ? [capIn(spec)] : [undefined, capIn(spec)];
  const isSummed = type === 'IMPRESSION' || type === 'DURATION';
  return (isSummed ? selections : [selections.flat()]).map((eventGroups) => ({
    ...{ type, group: {}, period: { start: secondsOf(start), end: secondsOf(end) } },
    cells: eventGroups
      .map(({ name, filter }) => ({ eventGroup: name, filters: filter === undefined ? [] : [filter] }))
      .sort((a, b) => (a.eventGroup < b.eventGroup ? -1 : 1)),
    vidSamplingInterval: { start: 0, width: 1, ...spec.vidSamplingInterval },
    ...(spec.modelLine !== undefined && { modelLine: spec.modelLine }),
    ...(frequency !== undefined && { maximumFrequency: frequency }),
    ...(perPerson !== undefined && { maximumPerPerson: perPerson }),
  }));
}

/** Returns the time in the format of plans, in which whole seconds have no fraction. */
const secondsOf = (time: string) => new Date(time).toISOString().replace('.000Z', 'Z');

const METRICS: Record<NeedType, string> = {
  REACH: 'reach',
  REACH_AND_FREQUENCY: 'reach and frequency',
  IMPRESSION: 'impressions',
  DURATION: 'watch duration',
};
const MAX_TITLE = 200;

/** Returns a readable title, such as `reach of tv | video, Jul 6 – 12, 2026, age 18-34`. */
export function titleOf({ segments, definition }: Plan, needs: readonly PlannedNeed[]): string {
  const { type, period, group } = needs[0]!.need;
  const union = needs.reduce((all, { union }) => all | union, 0);
  const names = segments.filter((_, i) => union & (1 << i)).join(' | ');
  const people = Object.entries(group).map(([attribute, value]) => `${attribute} ${value}`);
  const title = [`${METRICS[type]} of ${names}`, daysIn(period, definition.interval), ...people].join(', ');
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title;
}

/** Formats the first and the last day of a period in the time zone of the report. */
function daysIn({ start, end }: Need['period'], { timeZone }: Plan['definition']['interval']): string {
  const format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone });
  return format.formatRange(Date.parse(start), Date.parse(end) - 1).replaceAll(/[\u2009\u202f]/g, ' ');
}
