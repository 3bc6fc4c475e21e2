/** Describes the days of a question that publishers have not recorded. */
import { day } from '../../../format.ts';
import { isolated, listed } from '../../../parts/names.ts';
import type { Asked } from '../form/catalogue.ts';
import { addDays, countOf, type Day, type DayRange, dayOf } from './days.ts';
import { recordedOn } from './recorded.ts';

export interface Unrecorded {
  title: string;
  detail: string;
  /** The range without the missing days at its end. */
  rest?: DayRange;
}

/** The default number of days that a publisher waits for late events. Each publisher can set another number. */
const GRACE_DAYS = 7;

export function unrecordedOf(publishers: readonly Asked[], days: DayRange, now: Date): Unrecorded[] {
  const lacking = publishers
    .map((publisher) => ({ label: publisher.label, missing: missingDays(publisher, days, now) }))
    .filter(({ missing }) => missing.length > 0);
  const alike = Map.groupBy(lacking, ({ missing }) => missing.join());
  return [...alike.values()].map((of) => {
    const { missing } = of[0]!;
    const names = listed(of.map(({ label }) => isolated(label)));
    const isDeferred = missing.at(-1)! >= addDays(dayOf(now), -GRACE_DAYS);
    const rest = restOf(days, missing);
    return {
      title: `${names} ${of.length === 1 ? 'has' : 'have'} not recorded ${missingText(missing)}`,
      detail: isDeferred
        ? 'The answer may be deferred until these days are complete.'
        : 'Nothing is counted there on these days.',
      ...(rest && { rest }),
    };
  });
}

const MAX_DAYS = 1000;

function missingDays({ groups }: Asked, { from, until }: DayRange, now: Date): Day[] {
  const intervals = groups.map((group) => group.dataAvailabilityInterval);
  const missing: Day[] = [];
  for (let at = from; at <= until && missing.length < MAX_DAYS; at = addDays(at, 1)) {
    const recorded = recordedOn(at, intervals, now);
    if (recorded === 'none' || recorded === 'part') missing.push(at);
  }
  return missing;
}

function missingText(missing: readonly Day[]): string {
  const [first, last] = [missing[0]!, missing.at(-1)!];
  if (first === last) return day(first);
  const isWhole = countOf({ from: first, until: last }) === missing.length;
  return isWhole
    ? `${day(first)} to ${day(last)}`
    : `${missing.length} of the days, the first is ${day(first)}`;
}

/**
 * Returns the range without the missing days at its end. Returns undefined if a missing day is elsewhere, or if no days
 * would remain.
 */
function restOf({ from, until }: DayRange, missing: readonly Day[]): DayRange | undefined {
  const first = missing[0]!;
  const isTail = missing.at(-1) === until && countOf({ from: first, until }) === missing.length;
  return isTail && first > from ? { from, until: addDays(first, -1) } : undefined;
}
