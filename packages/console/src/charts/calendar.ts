/** A calendar of days by month. Each day shows its percentage, and a darker color means a higher percentage. */
import { percent } from '../format.ts';
import { type Chart, picture } from './chart.ts';
import { type Node, node } from './node.ts';

export interface Day {
  date: string;
  /** The fraction to show for this day, from 0 to 1, such as the spent fraction of a budget. */
  share?: number;
}

const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];
const MONTH = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const DATE = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });
/** The lowest percentage of each color. Days with the last color also have a frame. */
const LEVELS = [0, 6, 26, 46, 66, 90.5];

/** `about` is the word after a percentage, such as `spent`. `none` is the text for a day without a share. */
export function calendarChart(title: string, days: readonly Day[], about: string, none = 'no events'): Chart {
  const known = days.filter(({ share }) => share !== undefined);
  const highest = known.reduce<Day | undefined>(
    (most, day) => (most && most.share! >= day.share! ? most : day),
    undefined,
  );
  const finding = highest
    ? `${title}: ${known.length} days, at most ${percent(highest.share!, 0)} ${about}, on ${dateOf(highest)}`
    : `${title}: ${none}`;
  const months = Map.groupBy(days, ({ date }) => date.slice(0, 7));
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'months' },
      [...months.values()].map((of) => month(of, about, none)),
    ),
    table: {
      columns: ['Date', `Percent ${about}`],
      rows: days.map(({ date, share }) => [date, share === undefined ? '' : Math.round(share * 1000) / 10]),
    },
  };
}

const dateOf = ({ date }: Day) => DATE.format(new Date(date));

function month(days: readonly Day[], about: string, none: string): Node {
  const sorted = days.toSorted((a, b) => a.date.localeCompare(b.date));
  const first = new Date(sorted[0]!.date);
  const before = (first.getUTCDay() + 6) % 7;
  return node(
    'div',
    { class: 'stack tight' },
    node('b', { class: 'sm' }, MONTH.format(first)),
    node(
      'div',
      { class: 'heat' },
      WEEKDAYS.map((day) => node('b', {}, day)),
      Array.from({ length: before }, () => node('span', { class: 'h pad' })),
      sorted.map((day) => cell(day, about, none)),
    ),
  );
}

function cell(day: Day, about: string, none: string): Node {
  const number = Math.round((day.share ?? 0) * 100);
  const level = LEVELS.findLastIndex((least) => (day.share ?? 0) * 100 >= least);
  const isKnown = day.share !== undefined;
  return node(
    'span',
    {
      class: `h ${isKnown ? `v${level}` : 'none'}`,
      title: `${dateOf(day)}: ${isKnown ? `${number} % ${about}` : none}`,
    },
    node('span', {}, String(Number(day.date.slice(8)))),
    node('span', {}, isKnown ? String(number) : ''),
  );
}
