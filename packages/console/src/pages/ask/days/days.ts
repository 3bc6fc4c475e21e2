/** Functions for calendar days. A day is text such as `2026-10-01`, and all days are in UTC. */

export type Day = string;

/** A range of days, including both ends. */
export interface DayRange {
  from: Day;
  until: Day;
}

const DAY_MS = 86_400_000;

export const dayOf = (time: Date | string | number): Day => new Date(time).toISOString().slice(0, 10);
export const addDays = (day: Day, days: number): Day => dayOf(Date.parse(day) + days * DAY_MS);
export const countOf = ({ from, until }: DayRange) => (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;
export const isWithin = (day: Day, { from, until }: DayRange) => from <= day && day <= until;
export const rangeOf = (a: Day, b: Day): DayRange => (a <= b ? { from: a, until: b } : { from: b, until: a });

/** Returns the same day in another month, or the last day of that month if the month is shorter. */
export function addMonths(day: Day, months: number): Day {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const lastDate = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month - 1 + months, Math.min(date, lastDate)));
}

const weekdayOf = (day: Day) => (new Date(day).getUTCDay() + 6) % 7;

/** Returns the weeks of the day's month. Days of other months are undefined. */
export function weeksOf(day: Day): (Day | undefined)[][] {
  const month = day.slice(0, 7);
  const first = `${month}-01`;
  const weeks: (Day | undefined)[][] = [];
  for (
    let monday = addDays(first, -weekdayOf(first));
    monday.slice(0, 7) <= month;
    monday = addDays(monday, 7)
  ) {
    weeks.push(
      Array.from({ length: 7 }, (_, i) => addDays(monday, i)).map((at) =>
        at.startsWith(month) ? at : undefined,
      ),
    );
  }
  return weeks;
}

export function movedDay(day: Day, key: string, shift = false): Day | undefined {
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1);
    case 'ArrowRight':
      return addDays(day, 1);
    case 'ArrowUp':
      return addDays(day, -7);
    case 'ArrowDown':
      return addDays(day, 7);
    case 'Home':
      return addDays(day, -weekdayOf(day));
    case 'End':
      return addDays(day, 6 - weekdayOf(day));
    case 'PageUp':
      return addMonths(day, shift ? -12 : -1);
    case 'PageDown':
      return addMonths(day, shift ? 12 : 1);
  }
  return undefined;
}

export function intervalOf({ from, until }: DayRange): { start: string; end: string } {
  return { start: `${from}T00:00:00Z`, end: `${addDays(until, 1)}T00:00:00Z` };
}

export function rangeOfInterval({ start, end }: { start: Date | string; end: Date | string }): DayRange {
  return rangeOf(dayOf(start), dayOf(new Date(end).getTime() - 1));
}
