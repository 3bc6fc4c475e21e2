/**
 * The worlds in which the figures of every source are compared with a plain count in TypeScript (see `countPlainly`).
 */
import type { Row, World } from './world.ts';

const us = (text: string) => BigInt(Date.parse(text.endsWith('Z') ? text : `${text}Z`)) * 1000n;
const NOON = us('2024-01-10T12:00:00');

const row = (values: Partial<Row> = {}): Row => ({
  vid: 1n,
  at: NOON,
  group: 'g',
  duration: 1.5,
  gender: 'F',
  age: 30n,
  score: 0.25,
  weight: 7n,
  member: true,
  seen: NOON,
  ...values,
});
/**
 * Creates one row for each value of a column. Each row gets a different VID, unless the column is the VID or `rest`
 * contains a VID.
 */
const each = <K extends keyof Row>(key: K, values: Row[K][], rest: Partial<Row> = {}): Row[] =>
  values.map((value, i) => row({ vid: BigInt(i + 1), ...rest, [key]: value }));
const times = (count: number, make: (i: number) => Row): Row[] =>
  Array.from({ length: count }, (_, i) => make(i));
const vids = (...values: (bigint | null)[]): Row[] => each('vid', values);

/** Returns a deterministic pseudorandom number below `n`. */
const some = (i: number, salt: number, n: number) => {
  const mixed = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b);
  return (Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> 3) % n;
};
const crowd = (count: number, people: number): Row[] =>
  times(count, (i) =>
    row({
      vid: some(i, 0, 25) === 0 ? null : BigInt(some(i, 1, people) - 20),
      at: us('2023-12-25') + BigInt(some(i, 2, 45 * 86_400)) * 1_000_000n,
      group: ['g', 'h', 'other'][some(i, 3, 3)]!,
      duration: some(i, 4, 20) === 0 ? null : some(i, 5, 90_000) / 1000,
      gender: ['F', 'M', null][some(i, 6, 3)]!,
      age: some(i, 7, 10) === 0 ? null : BigInt(some(i, 8, 90)),
      score: some(i, 9, 10) === 0 ? Number.NaN : some(i, 10, 100) / 100,
      member: [true, false, null][some(i, 11, 3)]!,
    }),
  );

const SALT = 1_414_214n;
const [TOP, BOTTOM] = [2n ** 63n - 1n, -(2n ** 63n)];

export const WORLDS: World[] = [
  // Worlds about people.
  { name: 'a table without rows', rows: [] },
  { name: 'one event', rows: [row()] },
  { name: 'only events without a VID', rows: vids(null, null, null) },
  { name: 'some events without a VID', rows: vids(1n, null, 2n, null, 2n) },
  { name: 'the VID 0, which is a person', rows: vids(0n, 0n, 1n) },
  { name: 'negative VIDs', rows: vids(-1n, -1n, -2n, -SALT, -SALT - 1n) },
  {
    name: 'VIDs around 31 and 32 bits',
    rows: vids(2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n),
  },
  { name: 'VIDs that are equal as doubles', rows: vids(2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n) },
  { name: 'VIDs at the limits of 64 bits', rows: vids(TOP, TOP - 1n, BOTTOM, BOTTOM + 1n) },
  { name: 'VIDs that overflow with the salt', rows: vids(TOP - SALT, TOP - SALT + 1n, TOP - SALT + 2n) },
  { name: 'the same row five times', rows: times(5, () => row()) },
  {
    name: 'a person with more than 255 events',
    rows: times(300, (i) => row({ vid: i < 290 ? 1n : 2n })),
  },
  { name: 'a person in two event groups', rows: times(6, (i) => row({ vid: 3n, group: i % 2 ? 'g' : 'h' })) },
  { name: 'people in all buckets', rows: times(2000, (i) => row({ vid: BigInt(i * 7919) })) },
  { name: '3000 random events of 800 people', rows: crowd(3000, 800) },
  { name: '3000 random events of 25 people', rows: crowd(3000, 25) },

  // Worlds about times.
  {
    name: 'times around the start of the interval',
    rows: each('at', [us('2024-01-01') - 1n, us('2024-01-01'), us('2024-01-01') + 1n]),
  },
  {
    name: 'times around the end of the interval',
    rows: each('at', [us('2024-02-01') - 1n, us('2024-02-01'), us('2024-02-01') + 1n]),
  },
  {
    name: 'midnights in time zones east and west of UTC',
    rows: each(
      'at',
      ['2023-12-31T10:00', '2023-12-31T23:30', '2024-01-31T12:00', '2024-02-01T11:00'].map((t) =>
        us(`${t}:00`),
      ),
    ),
  },
  {
    name: 'times around changes of daylight saving time',
    rows: each(
      'at',
      ['2024-03-31T00:59:59', '2024-03-31T01:00:00', '2024-10-27T00:30:00', '2024-10-27T01:30:00'].map(us),
    ),
    questions: [
      { groups: [{ reference: 'g', from: '2024-03-31T01:00:00Z', to: '2024-10-27T01:00:00Z' }] },
      { groups: [{ reference: 'g', from: '2024-10-27T00:00:00Z', to: '2024-10-27T01:30:00Z' }] },
    ],
  },
  {
    name: 'a leap day, and times before 1970',
    rows: each('at', [
      us('2024-02-29T12:00:00'),
      us('1969-12-31T23:59:59'),
      us('1925-06-01'),
      us('2200-01-01'),
    ]),
    questions: [
      { groups: [{ reference: 'g', from: '2024-02-29', to: '2024-03-01' }] },
      { groups: [{ reference: 'g', from: '1920-01-01', to: '1970-01-01' }] },
      { groups: [{ reference: 'g', from: '1969-12-31T23:59:59.001Z', to: '2200-01-01' }] },
    ],
  },
  {
    name: 'an interval of one millisecond',
    rows: each(
      'at',
      [0n, 999n, 1000n, 1999n, 2000n].map((n) => NOON + n),
    ),
    questions: [
      { groups: [{ reference: 'g', from: '2024-01-10T12:00:00.001Z', to: '2024-01-10T12:00:00.002Z' }] },
    ],
  },
  {
    name: 'dates instead of timestamps',
    time: 'date',
    rows: each('at', ['2023-12-31', '2024-01-01', '2024-01-31', '2024-02-01', '1969-12-31'].map(us)),
    questions: [
      { groups: [{ reference: 'g', from: '2024-01-01T00:00:00.001Z', to: '2024-01-31T00:00:00.001Z' }] },
    ],
  },
  ...(['s', 'ms', 'us'] as const).map(
    (time): World => ({
      name: `integer timestamps in ${time}`,
      time,
      rows: each(
        'at',
        ['2023-12-31T23:59:59', '2024-01-01', '2024-01-10T12:00:01', '2024-01-31T23:59:59', '2024-02-01'].map(
          us,
        ),
      ),
      questions: [
        { groups: [{ reference: 'g', from: '2024-01-10T12:00:00.500Z', to: '2024-01-10T12:00:01.500Z' }] },
      ],
    }),
  ),

  // Worlds about references.
  {
    name: 'references that look alike',
    rows: each('group', ['g', 'G', 'g ', ' g', 'ｇ', 'g\u0301', '', null]),
    questions: ['g ', 'G', '', 'g\u0301'].map((reference) => ({ groups: [{ reference }] })),
  },
  {
    name: 'references with special characters of SQL',
    rows: each('group', ["it's", '"g"', 'g; --', '{0}', '$1', '%', '\\', 'é😀']),
    questions: ["it's", '"g"', '{0}', '%', '\\', 'é😀'].map((reference) => ({ groups: [{ reference }] })),
  },
  {
    name: 'references that look like numbers',
    rows: each('group', ['7', '007', '7.0', 'NaN', 'null', 'true']),
    questions: ['7', '007', 'null', 'true'].map((reference) => ({ groups: [{ reference }] })),
  },
  {
    name: 'many references in one question',
    rows: times(200, (i) => row({ vid: BigInt(i % 50), group: `group-${i}` })),
    questions: [
      { groups: times(150, (i) => row({ group: `group-${i}` })).map(({ group }) => ({ reference: group! })) },
    ],
  },

  // Worlds about durations.
  {
    name: 'durations that are NaN, null, negative or zero',
    rows: each('duration', [Number.NaN, null, -1, -0, 2], { vid: 4n }),
  },
  {
    name: 'infinite and extreme durations',
    rows: each('duration', [Infinity, -Infinity, 1e300, 2 ** 53, 5e-324]),
  },
  {
    name: 'durations that are not whole milliseconds',
    rows: each('duration', [0.0005, 0.0015, 0.0025, 0.0004999, 0.0014999, 12.3456]),
  },

  // Worlds about attributes.
  {
    name: 'rows whose attributes are all null',
    rows: vids(1n, 2n).map((each) => ({
      ...each,
      gender: null,
      age: null,
      score: null,
      weight: null,
      member: null,
      seen: null,
    })),
  },
  { name: 'empty strings, which are not null', rows: each('gender', ['', null, 'F', ' ']) },
  {
    name: 'text with case variants, Unicode and quotes',
    rows: each('gender', ['F', 'f', 'É', 'E\u0301', '😀', 'F\n', 'FF', "'", 'ß']),
  },
  {
    name: 'NaN, infinite and signed zero numbers',
    rows: each('score', [Number.NaN, Infinity, -Infinity, 0, -0, null, 0.5]),
  },
  { name: 'integers at the limits of 64 bits', rows: each('age', [TOP, BOTTOM, 0n, 18n, 17n, null]) },
  {
    name: 'unsigned integers up to 2^64 - 1',
    rows: each('weight', [2n ** 64n - 1n, 2n ** 63n, TOP, 0n, null]),
  },
  { name: 'booleans and nulls', rows: each('member', [true, false, null]) },
  { name: 'an attribute with microseconds', rows: each('seen', [NOON - 1n, NOON, NOON + 1n, -1n, null]) },
  { name: 'NOT NULL columns', solid: true, rows: crowdWithoutNulls() },

  // Worlds with tables of daily counts.
  {
    name: 'daily counts',
    time: 'date',
    rows: each('count', [1n, 2n, 300n, 0n, null, -5n, 2n ** 40n], { at: us('2024-01-10') }),
  },
  {
    name: 'daily counts of one person and of a null VID',
    rows: [3n, 4n, 0n, 2n, 5n].map((count, i) =>
      row({ vid: i === 3 ? null : 9n, count, group: i % 2 ? 'g' : 'h' }),
    ),
  },

  // Worlds with VIDs of two model lines.
  {
    name: 'two model lines',
    rows: times(60, (i) => row({ vid: BigInt(i % 20), other: i % 7 === 0 ? null : BigInt(i % 3) })),
  },
];

function crowdWithoutNulls(): Row[] {
  return crowd(200, 60).map((each) => ({
    ...each,
    vid: each.vid ?? 0n,
    duration: each.duration ?? 0,
    gender: each.gender ?? '',
    age: each.age ?? 0n,
    member: each.member ?? false,
  }));
}
