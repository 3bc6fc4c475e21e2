/** Readable names of a report's segments, sets, periods, groups and figures. */
import type { Group, LocalInterval, Metric, NeedType, Period, Periods } from '@measurement-exchange/reports';
import type { SegmentView } from './types.ts';

/** A segment's name, and the index of its color and shape in the charts. */
export interface Label {
  label: string;
  place: number;
}

/**
 * Returns the label of a publisher, and the index of the publisher's color and shape. Without an index, the segment's
 * position determines the color and shape. The default function is `byId`.
 */
export type PublisherLook = (name: string) => { label: string; index?: number };

const byId: PublisherLook = (name) => ({ label: name.split('/').at(-1)! });

/**
 * Names every segment after its publisher if each segment has a single publisher and no two segments have the same
 * publisher. Otherwise, uses the names in the definition.
 */
export function labelsOf(segments: readonly SegmentView[], look: PublisherLook = byId): Label[] {
  const owners = segments.map(({ dataProviders }) => (dataProviders.length === 1 ? dataProviders[0]! : ''));
  const all = segments.flatMap(({ dataProviders }) => dataProviders);
  const isOwn = owners.every((owner) => owner !== '' && all.filter((name) => name === owner).length === 1);
  return segments.map(({ name }, i) => {
    if (!isOwn) return { label: name, place: i };
    const { label, index = i } = look(owners[i]!);
    return { label, place: index };
  });
}

export const METRIC_WORDS: Record<Metric, string> = {
  reach: 'Reach',
  frequency: 'Reach and frequency',
  impressions: 'Impressions',
  watchDuration: 'Watch time',
};

const TYPE_WORDS: Record<NeedType, string> = {
  REACH: 'Reach',
  REACH_AND_FREQUENCY: 'Reach and frequency',
  IMPRESSION: 'Impressions',
  DURATION: 'Watch time',
};

export interface Named {
  segments: readonly SegmentView[];
  everything: readonly string[];
}

export function setWords({ segments, everything }: Named, labels: readonly Label[], of: string): string {
  const index = segments.findIndex(({ name }) => name === of);
  if (index >= 0) return labels[index]!.label;
  return everything.includes(of) ? 'all together' : of;
}

/** Formats the days of a period, such as `Sep 7 – 13`, in the time zone of the report. */
export function periodWords({ start, end }: Period, { timeZone }: Pick<LocalInterval, 'timeZone'>): string {
  const format = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone });
  // Replace the thin spaces that the platform inserts, because a text search on the page would not match them.
  return format.formatRange(Date.parse(start), Date.parse(end) - 1).replaceAll(/[\u2009\u202f]/g, ' ');
}

/**
 * Formats the first day of a period. `instant` is the start of the period. If `isEnd` is true, `instant` is the end of
 * the period, and the function formats the last day.
 */
export function dayWords(
  instant: string,
  { timeZone }: Pick<LocalInterval, 'timeZone'>,
  isEnd = false,
): string {
  const format = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone });
  return format.format(new Date(Date.parse(instant) - (isEnd ? 1 : 0)));
}

export const groupWords = (group: Group) => Object.values(group).join(', ');

export function periodsWords(periods: Periods, isCumulative: boolean): string {
  if (periods === 'total') return '';
  const each = periods === 'daily' ? 'by day' : 'by week';
  return isCumulative ? `${each}, cumulative` : each;
}

/** Returns the title of a figure, such as `Reach of all together, Sep 7 – 13, F, 18-34`. */
export function figureWords(
  view: Named & { interval: LocalInterval },
  labels: readonly Label[],
  {
    metric,
    of,
    periods,
    isCumulative,
    period,
    group,
  }: { metric: Metric; of: string; periods: Periods; isCumulative: boolean; period: Period; group: Group },
): string {
  const when = isCumulative
    ? `until ${dayWords(period.end, view.interval, true)}`
    : periodWords(period, view.interval);
  return [
    `${METRIC_WORDS[metric]} of ${setWords(view, labels, of)}`,
    ...(periods === 'total' ? [] : [when]),
    ...(Object.keys(group).length > 0 ? [groupWords(group)] : []),
  ].join(', ');
}

/** Returns the title of a need, such as `Reach of Harbor News or Northlight TV, Sep 7 – 13`. */
export function needWords(
  { interval, segments }: { interval: LocalInterval; segments: readonly SegmentView[] },
  labels: readonly Label[],
  need: {
    type: NeedType;
    segments: readonly number[];
    period: Period;
    group: Group;
    dataProviders: string[];
  },
): string {
  const isAll = need.segments.length === segments.length && segments.length > 2;
  const who = isAll ? 'all together' : need.segments.map((i) => labels[i]!.label).join(' or ');
  return [
    `${TYPE_WORDS[need.type]} of ${who}`,
    periodWords(need.period, interval),
    ...(Object.keys(need.group).length > 0 ? [groupWords(need.group)] : []),
  ].join(', ');
}
