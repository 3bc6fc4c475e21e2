/** Compares figures with counts in plain JavaScript over the same rows. Also tests which queries are rejected. */

import { isSampled, sampleBucket } from '@measurement-exchange/mpc/privacy/vidSampling';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventFiles, eventFiles } from '../../test/provider/eventFiles.ts';
import { RefusalError } from '../refusals/refusalError.ts';
import { type EventGroupSelection, type EventQuery, type Events, openEvents } from './events.ts';
import { QueryStopped } from './filter/errors.ts';

const ROWS = 3_000;
const RANDOM_ROWS = `
  SELECT CASE WHEN hash(range, 0) % 50 = 0 THEN NULL ELSE (hash(range, 1) % 1500)::BIGINT - 250 END AS vid,
    TIMESTAMP '2024-01-01' + INTERVAL (hash(range, 2) % 864000) SECOND AS timestamp,
    'group-' || (hash(range, 3) % 3) AS event_group,
    CASE hash(range, 4) % 3 WHEN 0 THEN 'F' WHEN 1 THEN 'M' END AS gender,
    (hash(range, 5) % 90)::SMALLINT AS age,
    CASE hash(range, 6) % 20 WHEN 0 THEN NULL WHEN 1 THEN -5.0 WHEN 2 THEN 'NaN'::DOUBLE
      ELSE (hash(range, 7) % 60000) / 1000.0 END AS duration
  FROM range(${ROWS})`;

interface Row {
  vid: bigint | null;
  timestamp: Date;
  event_group: string;
  gender: string | null;
  age: number;
  duration: number | null;
}

let files: EventFiles;
let rows: Row[];
let parquet: Events;
let csv: Events;
const warnings: string[] = [];

beforeAll(async () => {
  files = await eventFiles();
  const file = await files.write('events.parquet', RANDOM_ROWS);
  rows = (await files.rows(`FROM '${file}'`)) as unknown as Row[];
  await files.write('events.csv', `FROM '${file}'`);
  parquet = await openEvents({ files: file, onWarning: (message) => warnings.push(message) });
  csv = await openEvents({ files: files.path('events.csv'), threads: 1 });
});
afterAll(async () => {
  await parquet?.close();
  await csv?.close();
  await files?.remove();
});

const day = (n: number) => new Date(Date.UTC(2024, 0, n));
const WHOLE = { start: day(1), end: day(11) };
const group = (n: number, filter?: string, interval = WHOLE): EventGroupSelection => ({
  reference: `group-${n}`,
  interval,
  ...(filter !== undefined && { filter }),
});
const queryOf = (eventGroups: EventGroupSelection[], width = 1, start = 0): EventQuery => ({
  eventGroups,
  vidSampling: { start, width },
});

/**
 * Returns the selected events of each person, without using the engine. `filter` does the same as the query's CEL
 * filter.
 */
function byPerson(query: EventQuery, filter: (row: Row) => boolean = () => true): Map<bigint, Row[]> {
  const people = new Map<bigint, Row[]>();
  for (const row of rows) {
    const { vid } = row;
    const selected = query.eventGroups.some(
      ({ reference, interval }) =>
        row.event_group === reference && row.timestamp >= interval.start && row.timestamp < interval.end,
    );
    if (vid === null || !selected || !filter(row)) continue;
    const { start, width } = query.vidSampling;
    if (width < 1 && !isSampled(vid, { start, width })) continue;
    people.set(vid, [...(people.get(vid) ?? []), row]);
  }
  return people;
}

function histogramOf(people: Map<bigint, Row[]>, maximum: number): bigint[] {
  const histogram = new Array<bigint>(maximum).fill(0n);
  for (const events of people.values()) histogram[Math.min(events.length, maximum) - 1]! += 1n;
  return histogram;
}

const millisOf = ({ duration }: Row) =>
  duration === null || !(duration > 0) ? 0 : Math.round(duration * 1000);
const total = (values: number[]) => BigInt(values.reduce((sum, value) => sum + value, 0));

describe.each([
  ['Parquet', () => parquet],
  ['CSV', () => csv],
])('%s', (_title, events) => {
  const query = queryOf([group(0), group(1, undefined, { start: day(3), end: day(5) })]);

  it('counts people by frequency, with all higher frequencies in the last bin', async () => {
    const people = byPerson(query);
    expect(await events().frequencies(query, 4)).toEqual(histogramOf(people, 4));
    expect(await events().frequencies(query, 1)).toEqual([BigInt(people.size)]);
  });

  it('sums impressions, capped for each person', async () => {
    const counts = [...byPerson(query).values()].map((own) => own.length);
    expect(await events().impressions(query, 2)).toBe(total(counts.map((count) => Math.min(count, 2))));
    expect(await events().impressions(query, 2 ** 31 - 1)).toBe(total(counts));
  });

  it('sums watched milliseconds, capped for each person, with 0 for missing and negative durations', async () => {
    const watched = [...byPerson(query).values()].map((own) =>
      own.reduce((sum, row) => sum + millisOf(row), 0),
    );
    const capped = total(watched.map((millis) => Math.min(millis, 45_000)));
    expect(await events().watchDurationMillis(query, 45_000n)).toBe(capped);
    expect(await events().watchDurationMillis(query, 2n ** 63n - 1n)).toBe(total(watched));
  });

  it('applies a filter that is pushed down, evaluated, or both', async () => {
    const filter = (row: Row) => row.gender === 'F' && String(row.age).includes('1');
    const expected = histogramOf(byPerson(queryOf([group(0), group(2)]), filter), 3);
    for (const text of [
      "gender == 'F' && (age % 10 == 1 || age / 10 == 1)",
      "gender == 'F' && string(age).contains('1')",
      "(gender + string(age)).matches('^F.*1')",
    ]) {
      expect(await events().frequencies(queryOf([group(0, text), group(2, text)]), 3)).toEqual(expected);
    }
  });
});

describe('the selected events', () => {
  it('may have a different filter for each event group, some pushed down and others evaluated', async () => {
    const query = queryOf([group(0, "gender == 'F'"), group(1, "gender.matches('M')"), group(2, 'age < 10')]);
    const filter = (row: Row) =>
      row.event_group === 'group-0'
        ? row.gender === 'F'
        : row.event_group === 'group-1'
          ? row.gender === 'M'
          : row.age < 10;
    expect(await parquet.frequencies(query, 5)).toEqual(histogramOf(byPerson(query, filter), 5));
  });

  it('are counted once if selections overlap', async () => {
    const overlapping = [group(0), group(0, undefined, { start: day(2), end: day(4) }), group(0, 'age > 1')];
    expect(await parquet.impressions(queryOf(overlapping), 1000)).toBe(
      await parquet.impressions(queryOf([group(0)]), 1000),
    );
  });

  it('include the start of the interval and exclude its end', async () => {
    const [first] = rows.filter((row) => row.event_group === 'group-0' && row.vid !== null);
    const at = first!.timestamp;
    const later = (ms: number) => new Date(at.getTime() + ms);
    const count = (start: Date, end: Date) =>
      parquet.impressions(queryOf([group(0, undefined, { start, end })]), 1000);
    const there = rows.filter(
      (row) => row.vid !== null && row.event_group === 'group-0' && row.timestamp.getTime() === at.getTime(),
    ).length;
    expect(await count(at, later(1))).toBe(BigInt(there));
    expect(await count(later(-999), at)).toBe(0n);
    expect(await count(later(1), later(1000))).toBe(0n);
  });

  it('are empty for an unknown event group and without event groups', async () => {
    const unknown = [{ ...group(0), reference: "x' OR true --" }];
    expect(await parquet.frequencies(queryOf(unknown), 2)).toEqual([0n, 0n]);
    expect(await parquet.impressions(queryOf([]), 2)).toBe(0n);
    expect(await parquet.watchDurationMillis(queryOf([]), 2n)).toBe(0n);
  });

  it('may be of 2,000 event groups or 90 filters in one statement', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => ({ ...group(0), reference: `group-${i}` }));
    expect(await parquet.impressions(queryOf(many), 1000)).toBe(
      await parquet.impressions(queryOf([group(0), group(1), group(2)]), 1000),
    );
    const ages = Array.from({ length: 90 }, (_, age) => group(1, `age == ${age}`));
    expect(await parquet.impressions(queryOf(ages), 1000)).toBe(
      await parquet.impressions(queryOf([group(1)]), 1000),
    );
  });

  it('exclude events without a VID, and a warning states their number', async () => {
    const nameless = rows.filter((row) => row.vid === null && row.event_group === 'group-0').length;
    warnings.length = 0;
    await parquet.frequencies(queryOf([group(0)]), 3);
    await parquet.impressions(queryOf([group(0)], 0.5), 3);
    await parquet.watchDurationMillis(queryOf([group(0)]), 3n);
    const warning = `${nameless} events have no VID and were left out.`;
    expect(warnings).toEqual([warning, warning, warning]);
  });
});

describe('sampling', () => {
  it.each([
    [0, 0.5],
    [0.25, 0.5],
    [0.9, 0.1],
    [0.75, 0.5],
    [0.1, 0.001],
    [1, 0.3],
  ])('from %d with width %d includes the same people as the published rule', async (start, width) => {
    const query = queryOf([group(0), group(1), group(2)], width, start);
    const people = byPerson(query);
    expect(await parquet.frequencies(query, 8)).toEqual(histogramOf(people, 8));
    const counts = [...people.values()].map((own) => own.length);
    expect(await parquet.impressions(query, 3)).toBe(total(counts.map((count) => Math.min(count, 3))));
    const watched = [...people.values()].map((own) => own.reduce((sum, row) => sum + millisOf(row), 0));
    expect(await parquet.watchDurationMillis(query, 10_000n)).toBe(
      total(watched.map((millis) => Math.min(millis, 10_000))),
    );
  });

  it('hashes 64-bit VIDs like the published rule', async () => {
    const edges = [
      0n,
      -1n,
      1n,
      2n ** 63n - 1n,
      -(2n ** 63n),
      -1_414_214n,
      -1_414_215n,
      2n ** 63n - 1_414_214n,
    ];
    const vids = [...edges.flatMap((vid) => [vid, vid + 1n, vid - 1n])].filter(
      (vid) => BigInt.asIntN(64, vid) === vid,
    );
    const values = [...new Set(vids)].map((vid) => `((${vid})::BIGINT)`).join(', ');
    const file = await files.write(
      'edges.parquet',
      `SELECT vid, TIMESTAMP '2024-01-01' AS timestamp, 'group-0' AS event_group FROM (
         SELECT unnest([${values}]) AS vid UNION SELECT (hash(range) >> 1)::BIGINT * (CASE WHEN range % 2 = 0 THEN 1 ELSE -1 END) FROM range(400))`,
    );
    const all = (await files.rows(`SELECT vid FROM '${file}'`)).map(({ vid }) => vid as bigint);
    const events = await openEvents({ files: file });
    // Divide the people into sixteen samples. A VID with a wrong bucket would very likely be counted in another sample.
    for (let k = 0; k < 16; k++) {
      const [count] = await events.frequencies(queryOf([group(0)], 1 / 16, k / 16), 1);
      const inside = all.filter((vid) => isSampled(vid, { start: k / 16, width: 1 / 16 }));
      expect(count).toBe(BigInt(inside.length));
    }
    await events.close();
    // Query each VID alone, with a narrow sample that starts at the VID's bucket.
    const edge = await files.write(
      'edge.parquet',
      `SELECT vid, TIMESTAMP '2024-01-01' AS timestamp, 'vid ' || vid AS event_group
         FROM (SELECT unnest([${values}]) AS vid)`,
    );
    const apart = await openEvents({ files: edge, threads: 1 });
    for (const vid of new Set(vids)) {
      const start = sampleBucket(vid) / 0x7fffff;
      const width = 2 ** -22;
      const alone = { ...group(0), reference: `vid ${vid}` };
      expect(await apart.frequencies(queryOf([alone], width, start), 1)).toEqual([
        isSampled(vid, { start, width }) ? 1n : 0n,
      ]);
    }
    await apart.close();
  });
});

describe('a query that can never be computed', () => {
  it.each<[string, EventQuery]>([
    ['an empty interval', queryOf([group(0, undefined, { start: day(1), end: day(1) })])],
    ['an invalid time', queryOf([group(0, undefined, { start: new Date('x'), end: day(1) })])],
    ['a width of 0', queryOf([group(0)], 0)],
    ['a width above 1', queryOf([group(0)], 1.5)],
    ['a start that is not a number', queryOf([group(0)], 1, Number.NaN)],
    ['a filter on an unknown attribute', queryOf([group(0, 'income > 3')])],
    ['a filter on the VID', queryOf([group(0, 'vid == 3')])],
  ])('is rejected with a RefusalError: %s', async (_title, query) => {
    await expect(parquet.check(query)).rejects.toThrow(RefusalError);
    await expect(parquet.frequencies(query, 3)).rejects.toThrow(RefusalError);
  });

  it.each([0, -1, 1.5, Number.NaN, 1e9])('is rejected for a cap of %d', async (cap) => {
    await expect(parquet.frequencies(queryOf([group(0)]), cap)).rejects.toThrow('maximumFrequency');
    if (cap !== 1e9)
      await expect(parquet.impressions(queryOf([group(0)]), cap)).rejects.toThrow('maximumPerUser');
  });

  it('is rejected for an invalid maximum watch duration', async () => {
    await expect(parquet.watchDurationMillis(queryOf([group(0)]), 0n)).rejects.toThrow(RefusalError);
    await expect(parquet.watchDurationMillis(queryOf([group(0)]), 2n ** 63n)).rejects.toThrow(RefusalError);
  });

  it('is rejected for times that the column cannot hold', async () => {
    const nanos = `SELECT 1 AS vid, 1704067200000000000 AS timestamp, 'group-0' AS event_group`;
    const events = await openEvents({
      files: await files.write('nanos.parquet', nanos),
      columns: { timestampUnit: 'ns' },
    });
    const until = (end: string) => queryOf([group(0, undefined, { start: day(1), end: new Date(end) })]);
    expect(await events.impressions(until('2262-01-01T00:00:00Z'), 1)).toBe(1n);
    await expect(events.impressions(until('2263-01-01T00:00:00Z'), 1)).rejects.toThrow(RefusalError);
    await expect(events.check(until('9999-12-31T00:00:00Z'))).rejects.toThrow(RefusalError);
    await events.close();
  });
});

describe('a filter that CEL evaluates', () => {
  /**
   * The query `costly` has a filter whose estimated cost for each value of `code` exceeds the default limit of 5000
   * steps. The real cost is low, because no code is below 0.
   */
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  const never = numbers.slice(0, 40).map((i) => `x == ${i}`);
  const costly = queryOf([group(0, `[${numbers.join(', ')}].all(x, code < 0 && (${never.join(' || ')}))`)]);
  const codes = (count: number) =>
    files.write(
      `codes-${count}.parquet`,
      `SELECT range AS vid, range AS code, TIMESTAMP '2024-01-01' AS timestamp, 'group-0' AS event_group
         FROM range(${count})`,
    );

  it('is rejected if its maximum cost exceeds the limit, regardless of the events', async () => {
    for (const count of [1, 24_999, 25_001]) {
      const events = await openEvents({ files: await codes(count) });
      await expect(events.check(costly)).rejects.toThrow('5000 steps for each combination');
      await expect(events.impressions(costly, 1)).rejects.toThrow(RefusalError);
      await events.close();
    }
  });

  it('may cost more with a lower maximumCombinations, and stops if there are more combinations', async () => {
    const outcomes = [];
    for (const count of [300, 301]) {
      const events = await openEvents({ files: await codes(count), maximumCombinations: 300 });
      await events.check(costly);
      outcomes.push(await events.impressions(costly, 1).catch((error) => error));
      await events.close();
    }
    expect(outcomes).toEqual([0n, expect.any(QueryStopped)]);
  });

  it('may cost more if it uses no attribute', async () => {
    const events = await openEvents({ files: await codes(5) });
    const constant = `[${numbers.slice(0, 100).join(', ')}].all(x, [1, 2, 0].exists(y, y < 1))`;
    expect(await events.impressions(queryOf([group(0, constant)]), 1)).toBe(5n);
    expect(await events.impressions(queryOf([group(0, `!${constant}`)]), 1)).toBe(0n);
    await events.close();
  });

  it('stops after timeoutSeconds', async () => {
    const events = await openEvents({ files: await codes(25_000), timeoutSeconds: 0.05 });
    const slow = queryOf([group(0, `[${numbers.join(', ')}].all(x, x != -code)`)]);
    await expect(events.impressions(slow, 1)).rejects.toThrow('timeoutSeconds');
    await events.close();
  });
});

describe('events.people', () => {
  const query = queryOf([group(0), group(1, "gender == 'F'")]);
  const selected = () =>
    rows.filter(
      (row) => row.event_group === 'group-0' || (row.event_group === 'group-1' && row.gender === 'F'),
    );

  it.each([1, 3, 126])('returns each person once, with at most %i events', async (maximumFrequency) => {
    const expected = new Map<number, number>();
    let [outside, left] = [0, 0];
    for (const [vid, events] of Map.groupBy(selected(), (row) => row.vid)) {
      if (vid === null) left += events.length;
      else if (vid < 1n) outside++;
      else expected.set(Number(vid), Math.min(events.length, maximumFrequency));
    }
    expect([outside, left].every((count) => count > 0)).toBe(true);
    for (const events of [parquet, csv]) {
      const counted = new Map<number, number>();
      let [zeros, twice] = [0, 0];
      await events.people(query, maximumFrequency, async (vids, frequencies) => {
        vids.forEach((vid, i) => {
          if (counted.has(vid)) twice++;
          if (vid > 0) counted.set(vid, frequencies[i]!);
          else if (frequencies[i]! > 0) zeros++;
        });
      });
      expect(counted).toEqual(expected);
      expect([zeros, twice]).toEqual([outside, 0]);
    }
    expect(warnings).toContain('Events without a VID were left out.');
  });

  it('rejects with the error of its callback, and with the reason of an aborted signal', async () => {
    class Full extends Error {}
    const full = new Full('no more');
    await expect(parquet.people(query, 1, () => Promise.reject(full))).rejects.toBe(full);
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(parquet.people({ ...query, signal }, 1, () => {})).rejects.toThrow('stop');
  });
});

describe('the inventory', () => {
  it('has the rows and days of each reference, in Parquet and CSV', async () => {
    const expected = [0, 1, 2]
      .map((n) => {
        const own = rows.filter((row) => row.event_group === `group-${n}`);
        const days = new Set(own.map(({ timestamp }) => timestamp.toISOString().slice(0, 10)));
        return {
          reference: `group-${n}`,
          rows: own.length,
          days: days.size,
          firstDay: [...days].sort()[0],
          lastDay: [...days].sort().at(-1),
        };
      })
      .sort((a, b) => b.rows - a.rows);
    expect(await parquet.inventory()).toEqual(expected);
    expect(await csv.inventory()).toEqual(expected);
  });

  it.each([
    ['s', 'epoch(t)::BIGINT'],
    ['ms', 'epoch_ms(t)'],
    ['us', 'epoch_us(t)'],
    ['ns', 'epoch_ns(t)'],
  ] as const)('computes days from times in %s, and omits rows without a reference', async (unit, sql) => {
    const times = ['2024-02-28 23:59:59', '2024-02-29 00:00:00', '2024-02-29 12:00:00'];
    const file = await files.write(
      `times-${unit}.parquet`,
      `SELECT 1 AS vid, ${sql} AS timestamp, event_group FROM (VALUES
         ${times.map((time) => `(TIMESTAMP '${time}', 'a')`).join(', ')},
         (TIMESTAMP '2024-03-01', NULL), (TIMESTAMP '2024-03-02', 'b')) AS events(t, event_group)`,
    );
    const events = await openEvents({ files: file, threads: 1, columns: { timestampUnit: unit } });
    expect(await events.inventory()).toEqual([
      { reference: 'a', rows: 3, days: 2, firstDay: '2024-02-28', lastDay: '2024-02-29' },
      { reference: 'b', rows: 1, days: 1, firstDay: '2024-03-02', lastDay: '2024-03-02' },
    ]);
    await events.close();
  });
});
