/** Defines a world: the rows of a table, the settings for opening it, and the expected answer to each question. */
import { isSampled } from '@measurement-exchange/mpc/privacy/vidSampling';
import type { AttributeValue } from '../../src/filters/types.ts';
import type { EventGroupSelection, EventQuery, EventsConfig } from '../../src/provider/events.ts';
import { openPopulation } from '../../src/provider/population.ts';
import type { TestColumn, TestTable } from './testSource.ts';

/** One row of the event table. Times are microseconds since 1970. */
export interface Row {
  vid: bigint | null;
  /** The VID of another model line. If any row of a world has this value, the table gets a second VID column. */
  other?: bigint | null;
  at: bigint;
  group: string | null;
  duration: number | null;
  /** The number of events that the row stands for. Only the worlds of daily counts have this column. */
  count?: bigint | null;
  gender: string | null;
  age: bigint | null;
  score: number | null;
  weight: bigint | null;
  member: boolean | null;
  seen: bigint | null;
}

export interface World {
  name: string;
  rows: Row[];
  /** How the time of a row is stored: as a timestamp (default), a date, or an integer in s, ms or us since 1970. */
  time?: 'timestamp' | 'date' | 's' | 'ms' | 'us';
  /** If true, no column allows NULL. */
  solid?: boolean;
  /** Questions for this world only, in addition to the common questions. */
  questions?: Question[];
}

/** A filter and its meaning as a function. */
export interface Filter {
  text: string;
  holds(row: Row): boolean;
}

export interface Question {
  groups: { reference: string; from?: string; to?: string; filter?: Filter }[];
  sampling?: { start: number; width: number };
  modelLine?: string;
}

const DEFAULT_INTERVAL = ['2024-01-01', '2024-02-01'] as const;
const EVERYBODY = { start: 0, width: 1 };
export const MODEL_LINES = {
  'modelProviders/m/modelLines/a': 'vid',
  'modelProviders/m/modelLines/b': 'other',
};

const hasCounts = ({ rows }: World) => rows.some(({ count }) => count !== undefined);
const hasOther = ({ rows }: World) => rows.some(({ other }) => other !== undefined);

const TICK_US = { s: 1_000_000n, ms: 1000n, us: 1n };

export function tableOf(world: World): TestTable {
  const { rows, time = 'timestamp', solid = false } = world;
  const isTicks = time === 's' || time === 'ms' || time === 'us';
  const columns = [
    column('vid', 'int', (row) => row.vid),
    ...(hasOther(world) ? [column('other', 'int', (row) => row.other)] : []),
    column('timestamp', isTicks ? 'int' : time, ({ at }) => (isTicks ? at / TICK_US[time] : at)),
    column('event_group', 'string', (row) => row.group),
    column('duration', 'double', (row) => row.duration),
    ...(hasCounts(world) ? [column('n', 'int', (row) => row.count)] : []),
    column('gender', 'string', (row) => row.gender),
    column('age', 'int', (row) => row.age),
    column('score', 'double', (row) => row.score),
    column('weight', 'uint', (row) => row.weight),
    column('member', 'bool', (row) => row.member),
    column('seen', 'timestamp', (row) => row.seen),
  ];
  return {
    columns: columns.map(({ name, type }) => ({ name, type, nullable: !solid })),
    rows: rows.map((row) => columns.map(({ value }) => value(row) ?? null)),
  };
}

const column = (name: string, type: TestColumn['type'], value: (row: Row) => AttributeValue) => ({
  name,
  type,
  value,
});

/**
 * A population with ranges at both ends of the 64-bit range, a range of one VID, a gap, and people who lack one of the
 * attributes.
 */
export const POPULATION = openPopulation({
  subpopulations: [
    {
      attributes: { sex: 'F', age: 30 },
      vidRanges: [
        { start: String(-(2n ** 63n)), end: -2 },
        { start: 1, end: 3 },
        { start: 5, end: 5 },
      ],
    },
    { attributes: { sex: 'M', age: 50 }, vidRanges: [{ start: 6, end: 20 }] },
    { attributes: { sex: 'M' }, vidRanges: [{ start: 21, end: String(2n ** 63n - 1n) }] },
  ],
});

/** Returns the attributes of a VID in the population. */
export function personOf(vid: bigint | null): { sex?: string; age?: number } {
  if (vid === null || vid === 4n || vid === 0n || vid === -1n) return {};
  if (vid < 6n) return { sex: 'F', age: 30 };
  return vid <= 20n ? { sex: 'M', age: 50 } : { sex: 'M' };
}

/** Returns the settings of a world, except for the location of the events. */
export function settingsOf(world: World): Pick<EventsConfig, 'columns' | 'vidColumns' | 'population'> {
  const { time } = world;
  const unit = time === 's' || time === 'ms' || time === 'us' ? { timestampUnit: time } : {};
  return {
    columns: {
      ...unit,
      ...(hasCounts(world) && { count: 'n' }),
      attributes: ['gender', 'age', 'score', 'weight', 'member', 'seen'],
    },
    ...(hasOther(world) ? { vidColumns: MODEL_LINES } : { population: POPULATION }),
  };
}

export function queryOf({ groups, sampling = EVERYBODY, modelLine }: Question): EventQuery {
  const eventGroups = groups.map((group): EventGroupSelection => {
    const [from, to] = [group.from ?? DEFAULT_INTERVAL[0], group.to ?? DEFAULT_INTERVAL[1]];
    const interval = { start: new Date(from), end: new Date(to) };
    return {
      reference: group.reference,
      interval,
      ...(group.filter && { filter: group.filter.text }),
    };
  });
  return { eventGroups, vidSampling: sampling, ...(modelLine && { modelLine }) };
}

export interface Person {
  events: number;
  millis: bigint;
}

/** Counts the events and milliseconds of each sampled person in plain TypeScript. */
export function countPlainly({ rows }: World, question: Question): Map<bigint, Person> {
  const { eventGroups, vidSampling } = queryOf(question);
  const people = new Map<bigint, Person>();
  for (const row of rows) {
    const isSelected = eventGroups.some(({ reference, interval }, i) => {
      const { filter } = question.groups[i]!;
      const [start, end] = [interval.start, interval.end].map((time) => BigInt(time.getTime()) * 1000n);
      return row.group === reference && row.at >= start! && row.at < end! && (filter?.holds(row) ?? true);
    });
    const events = row.count === undefined ? 1 : Number(row.count ?? 0n);
    const vid = question.modelLine?.endsWith('b') ? row.other! : row.vid;
    if (!isSelected || events < 1 || vid === null || !isSampled(vid, vidSampling)) continue;
    const person = people.get(vid) ?? { events: 0, millis: 0n };
    people.set(vid, { events: person.events + events, millis: person.millis + millisOf(row) });
  }
  return people;
}

function millisOf({ duration }: Row): bigint {
  if (duration === null || Number.isNaN(duration)) return 0n;
  return BigInt(Math.round(Math.min(Math.max(duration * 1000, 0), 2 ** 53)));
}
