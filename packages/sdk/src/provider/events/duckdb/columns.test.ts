import { appendFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventFiles, eventFiles } from '../../../../test/provider/eventFiles.ts';
import { FilterError } from '../../../filters/errors.ts';
import { type ColumnNames, EventsUnavailable, openEvents } from '../../events.ts';

let files: EventFiles;
beforeAll(async () => {
  files = await eventFiles();
});
afterAll(() => files?.remove());

const JANUARY = { start: new Date('2024-01-01T00:00:00Z'), end: new Date('2024-01-02T00:00:00Z') };
const EVERYBODY = { start: 0, width: 1 };

/** Counts the impressions of one day in the event group `reference`, from a file with the rows of `select`. */
async function count(
  select: string,
  columns: ColumnNames = {},
  { reference = 'g', filter = '', name = 'events.parquet' } = {},
): Promise<bigint> {
  const events = await openEvents({ files: await files.write(name, select), columns });
  try {
    const eventGroups = [{ reference, interval: JANUARY, filter }];
    return await events.impressions({ eventGroups, vidSampling: EVERYBODY }, 1000);
  } finally {
    await events.close();
  }
}
const ONE = "1 AS vid, TIMESTAMP '2024-01-01 12:00:00' AS timestamp, 'g' AS event_group";

describe('the time of an event', () => {
  // The middle three of the five events are in the interval: at its first moment, at noon, and in its last second.
  const times = [
    '2023-12-31 23:59:59',
    '2024-01-01 00:00:00',
    '2024-01-01 12:00:00',
    '2024-01-01 23:59:59',
    '2024-01-02 00:00:00',
  ];
  const select = (sql: (time: string) => string) =>
    times
      .map((time, i) => `SELECT ${i} AS vid, 'g' AS event_group, ${sql(time)} AS timestamp`)
      .join(' UNION ALL ');
  const epoch = (time: string, unit: number) => `(epoch(TIMESTAMP '${time}') * ${unit})::BIGINT`;

  it.each<[string, (time: string) => string]>([
    ['TIMESTAMP, interpreted as UTC', (time) => `TIMESTAMP '${time}'`],
    ['TIMESTAMP WITH TIME ZONE', (time) => `TIMESTAMPTZ '${time}+00'`],
    ['another time zone', (time) => `(TIMESTAMPTZ '${time}+00' + INTERVAL 0 SECOND)`],
    ['nanoseconds', (time) => `CAST(TIMESTAMP '${time}' AS TIMESTAMP_NS)`],
    ['seconds', (time) => `CAST(TIMESTAMP '${time}' AS TIMESTAMP_S)`],
  ])('may be %s', async (_title, sql) => {
    expect(await count(select(sql))).toBe(3n);
  });

  it('may be a DATE, which counts as its midnight', async () => {
    expect(await count(select((time) => `CAST(TIMESTAMP '${time}' AS DATE)`))).toBe(3n);
  });

  it.each([
    ['s', 1],
    ['ms', 1e3],
    ['us', 1e6],
    ['ns', 1e9],
  ] as const)('may be a whole number of %s since 1970', async (timestampUnit, unit) => {
    expect(
      await count(
        select((time) => epoch(time, unit)),
        { timestampUnit },
      ),
    ).toBe(3n);
  });

  it('is compared exactly if the interval is more precise than the column', async () => {
    const events = await openEvents({
      files: await files.write(
        's.parquet',
        select((time) => epoch(time, 1)),
      ),
      columns: { timestampUnit: 's' },
    });
    const within = (start: string, end: string) =>
      events.impressions(
        {
          eventGroups: [{ reference: 'g', interval: { start: new Date(start), end: new Date(end) } }],
          vidSampling: EVERYBODY,
        },
        1000,
      );
    expect(await within('2024-01-01T12:00:00.001Z', '2024-01-01T12:00:01Z')).toBe(0n);
    expect(await within('2024-01-01T12:00:00.000Z', '2024-01-01T12:00:00.001Z')).toBe(1n);
    expect(await within('1960-01-01T00:00:00.5Z', '2024-01-01T12:00:00Z')).toBe(2n);
    await events.close();
  });

  it('is on the correct day if it is a number before 1970', async () => {
    const rows = [-86_401, -86_400, -1, 0].map(
      (time) => `SELECT 1 AS vid, 'g' AS event_group, ${time} AS timestamp`,
    );
    const events = await openEvents({
      files: await files.write('1969.parquet', rows.join(' UNION ALL ')),
      columns: { timestampUnit: 's' },
    });
    expect(await events.inventory()).toMatchObject([
      { days: 3, firstDay: '1969-12-30', lastDay: '1970-01-01' },
    ]);
    await events.close();
  });

  it('requires columns.timestampUnit if it is a number', async () => {
    await expect(count(select((time) => epoch(time, 1)))).rejects.toThrow('columns.timestampUnit');
  });
});

describe('watch durations', () => {
  it.each([
    ['whole seconds', '3', 3000n],
    ['fractional seconds', '0.0015::DOUBLE', 2n],
    ['decimals', '1.2345::DECIMAL(9, 4)', 1235n],
    ['an INTERVAL', "INTERVAL '1.5 seconds'", 1500n],
    ['a negative number', '-3', 0n],
    ['NULL', 'NULL::DOUBLE', 0n],
    ['NaN', "'NaN'::DOUBLE", 0n],
    ['more than any cap', "'Infinity'::DOUBLE", 60_000n],
    ['a very large number', '9223372036854775807::BIGINT', 60_000n],
  ])('may be %s', async (_title, duration, millis) => {
    const file = await files.write('duration.parquet', `SELECT ${ONE}, ${duration} AS duration`);
    const events = await openEvents({ files: file });
    expect(events.hasDuration).toBe(true);
    const eventGroups = [{ reference: 'g', interval: JANUARY }];
    expect(await events.watchDurationMillis({ eventGroups, vidSampling: EVERYBODY }, 60_000n)).toBe(millis);
    await events.close();
  });

  it('are rejected without a duration column', async () => {
    const events = await openEvents({ files: await files.write('none.parquet', `SELECT ${ONE}`) });
    expect(events.hasDuration).toBe(false);
    const query = { eventGroups: [], vidSampling: EVERYBODY };
    await expect(events.watchDurationMillis(query, 1n)).rejects.toThrow('columns.duration');
    await events.close();
  });
});

describe('attributes', () => {
  it.each([
    ['text', "'F'", "a == 'F'"],
    ['an ENUM', "'F'::ENUM('F', 'M')", "a == 'F'"],
    ['a boolean', 'true', 'a'],
    ['a small whole number', '100::TINYINT', 'a + 100 == 200'],
    ['a large unsigned number', '18446744073709551615::UBIGINT', 'a == 18446744073709551615u'],
    ['a float', '0.5::FLOAT', 'a == 0.5'],
    ['a decimal', '1.25::DECIMAL(5, 2)', 'a == 1.25'],
    ['a date', "DATE '2024-02-03'", "a == timestamp('2024-02-03T00:00:00Z')"],
    ['a time with a zone', "TIMESTAMPTZ '2024-02-03 01:00:00+01'", "a == timestamp('2024-02-03T00:00:00Z')"],
    ['a time by its hour', "TIMESTAMP '2024-03-31 02:30:00'", 'a.getHours() == 2'],
    ['a field of a STRUCT', "{'b': {'c': 7}}", 'a.b.c == 7'],
  ])('may be %s', async (_title, value, filter) => {
    const select = `SELECT ${ONE}, ${value} AS a`;
    expect(await count(select, {}, { filter })).toBe(1n);
    expect(await count(select, {}, { filter: `!(${filter})` })).toBe(0n);
  });

  it('include every column of a supported type without another role', async () => {
    const events = await openEvents({
      files: await files.write(
        'all.parquet',
        `SELECT ${ONE}, 1.5 AS duration, 'x' AS a, [1, 2] AS list, 1::HUGEINT AS big`,
      ),
    });
    expect(events.attributes).toEqual({ a: 'string', big: 'double' });
    await events.close();
  });

  it('are limited to columns.attributes if it is set', async () => {
    const select = `SELECT ${ONE}, 'x' AS a, 'y' AS b`;
    expect(await count(select, { attributes: ['a'] }, { filter: "a == 'x'" })).toBe(1n);
    await expect(count(select, { attributes: ['a'] }, { filter: "b == 'y'" })).rejects.toThrow(
      'There is no attribute b',
    );
  });

  it('prefer a column with a dot in its name to the field of a struct', async () => {
    const select = `SELECT ${ONE}, {'b': 'field'} AS a, 'column' AS "a.b"`;
    expect(await count(select, {}, { filter: "a.b == 'column'" })).toBe(1n);
  });
});

describe('hostile names', () => {
  const evil = `"; DROP TABLE x; --'`;
  const quoted = `"${evil.replaceAll('"', '""')}"`;

  it.each(['parquet', 'csv'])('are quoted in %s', async (extension) => {
    const select = `SELECT 1 AS ${quoted}, TIMESTAMP '2024-01-01' AS "select", 'it''s' AS "event group",
      2.5 AS "%s", 'female' AS gender`;
    const columns = { vid: evil, timestamp: 'select', eventGroup: 'event group', duration: '%s' };
    const options = { reference: "it's", filter: "gender == 'female'", name: `events.${extension}` };
    expect(await count(select, columns, options)).toBe(1n);
  });

  it('are harmless as attributes and files', async () => {
    const select = `SELECT ${ONE}, 'x' AS ${quoted}, 'y' AS matches, 'z' AS "value 0", 'F' AS gender`;
    expect(await count(select, {}, { filter: "gender.matches('F')", name: "it's.parquet" })).toBe(1n);
  });
});

describe('CSV', () => {
  const select = `SELECT ${ONE}, 'F' AS gender, '01234' AS zip`;

  it('is read with the given types, which are guessed if they are missing', async () => {
    const options = { filter: "gender == 'F' && zip == '01234'", name: 'typed.csv' };
    expect(await count(select, { attributes: { gender: 'string', zip: 'string' } }, options)).toBe(1n);
    await expect(count(select, {}, options)).rejects.toThrow('bool and string');
  });

  it('causes an error if a later row does not have the type', async () => {
    const file = await files.write('odd.csv', select);
    const events = await openEvents({ files: file });
    await appendFile(file, 'x,yesterday,g,F,1\n');
    const query = { eventGroups: [{ reference: 'g', interval: JANUARY }], vidSampling: EVERYBODY };
    await expect(events.impressions(query, 1)).rejects.toThrow(EventsUnavailable);
    await events.close();
  });

  it('causes an error if a later time with a zone is invalid, and does not skip the row', async () => {
    const zoned = `SELECT 1 AS vid, '2024-01-01T12:00:00Z' AS timestamp, 'g' AS event_group`;
    const file = await files.write('zoned.csv', zoned);
    const events = await openEvents({ files: file });
    const query = { eventGroups: [{ reference: 'g', interval: JANUARY }], vidSampling: EVERYBODY };
    expect(await events.impressions(query, 1)).toBe(1n);
    await appendFile(file, '2,yesterday,g\n');
    await expect(events.impressions(query, 1)).rejects.toThrow('"yesterday" in a CSV file is not a time');
    await events.close();
  });
});

describe('event groups', () => {
  it('in CSV keep their leading zeros', async () => {
    const select = `SELECT 1 AS vid, TIMESTAMP '2024-01-01' AS timestamp, '007' AS event_group
      UNION ALL SELECT 2, TIMESTAMP '2024-01-01', '7'`;
    expect(await count(select, {}, { reference: '007', name: 'groups.csv' })).toBe(1n);
  });

  it('may be numbers or an ENUM', async () => {
    const select = (group: string) =>
      `SELECT 1 AS vid, TIMESTAMP '2024-01-01' AS timestamp, ${group} AS event_group`;
    expect(await count(select('42'), {}, { reference: '42' })).toBe(1n);
    expect(await count(select("'g'::ENUM('g', 'h')"))).toBe(1n);
  });
});

describe('a missing or unsuitable column', () => {
  const described = '"vid" (INTEGER), "timestamp" (TIMESTAMP), "event_group" (VARCHAR)';
  it.each<[string, ColumnNames, string]>([
    [
      `SELECT ${ONE}`,
      { vid: 'person' },
      `columns.vid: the events have no column "person". They have ${described}.`,
    ],
    [`SELECT ${ONE}`, { timestamp: 'Timestamp' }, 'no column "Timestamp"'],
    [`SELECT ${ONE}`, { eventGroup: 'campaign' }, 'columns.eventGroup'],
    [`SELECT ${ONE}`, { duration: 'seconds' }, 'columns.duration'],
    [`SELECT ${ONE}`, { attributes: ['age'] }, 'columns.attributes'],
    [
      `SELECT ${ONE}`,
      { vid: 'event_group' },
      'columns.vid: "event_group" is VARCHAR, and must be an integer',
    ],
    [`SELECT ${ONE}`, { timestamp: 'event_group' }, 'columns.timestamp: "event_group" is VARCHAR'],
    [`SELECT ${ONE}`, { eventGroup: 'timestamp' }, 'columns.eventGroup: "timestamp" is TIMESTAMP'],
    [`SELECT ${ONE}`, { duration: 'event_group' }, 'columns.duration: "event_group" is VARCHAR'],
    [
      `SELECT ${ONE}, 'x' AS a`,
      { attributes: { a: 'int' } },
      'columns.attributes: "a" is VARCHAR, and must be int',
    ],
    [`SELECT ${ONE}, [1] AS a`, { attributes: ['a'] }, 'columns.attributes: "a" is INTEGER[]'],
    [`SELECT 1.5 AS vid, * EXCLUDE vid FROM (SELECT ${ONE})`, {}, 'columns.vid: "vid" is DECIMAL(2,1)'],
  ])('is rejected with the name of its setting or column', async (select, columns, message) => {
    await expect(count(select, columns)).rejects.toThrow(message);
  });
});

describe('the count of a row', () => {
  const rows = '1, 3), (2, NULL), (3, 0), (4, -1), (5, 4';
  const select = `SELECT v AS vid, TIMESTAMP '2024-01-01' AS timestamp, 'g' AS event_group, n FROM (VALUES (${rows})) AS t(v, n)`;

  it.each(['events.parquet', 'counts.csv'])('is optional, and added if it is positive: %s', async (name) => {
    expect(await count(select, { count: 'n' }, { name })).toBe(7n);
    expect(await count(select, {}, { name })).toBe(5n);
    expect(await count(`${select} WHERE n > 3`, { count: 'n' }, { name })).toBe(4n);
  });

  it('must be an integer, and cannot be used as an attribute', async () => {
    await expect(count(`SELECT ${ONE}, 1.5 AS n`, { count: 'n' })).rejects.toThrow(
      'columns.count: "n" is DECIMAL',
    );
    await expect(count(`SELECT ${ONE}, 1 AS n`, { count: 'n' }, { filter: 'n == 1' })).rejects.toThrow(
      FilterError,
    );
  });
});

describe('the VID columns of model lines', () => {
  const open = async (columns: ColumnNames, vidColumns: Record<string, string>) =>
    openEvents({
      files: await files.write('lines.parquet', `SELECT ${ONE}, 2 AS other`),
      columns,
      vidColumns,
    });

  it('are selected by the model line of the query', async () => {
    const events = await open({}, { 'modelLines/a': 'vid', 'modelLines/b': 'other' });
    const ask = (modelLine?: string) => {
      const query = {
        eventGroups: [{ reference: 'g', interval: JANUARY }],
        vidSampling: EVERYBODY,
        modelLine,
      };
      const found: bigint[] = [];
      return events.allPeople(query, 1, (vids) => void found.push(...vids)).then(() => found);
    };
    expect(await ask('modelLines/a')).toEqual([1n]);
    expect(await ask('modelLines/b')).toEqual([2n]);
    await expect(ask('modelLines/c')).rejects.toMatchObject({ code: 'MODEL_LINE_NOT_OFFERED' });
    await expect(ask('toString')).rejects.toMatchObject({ code: 'MODEL_LINE_NOT_OFFERED' });
    await expect(ask()).rejects.toThrow('names no model line');
    expect(Object.keys(events.attributes)).toEqual([]);
    await events.close();
  });

  it.each<[string, ColumnNames, Record<string, string>]>([
    ['columns.vid and vidColumns are both set', { vid: 'vid' }, { 'modelLines/a': 'vid' }],
    ['vidColumns must name the VID column', {}, {}],
    ['vidColumns: the events have no column "none"', {}, { 'modelLines/a': 'none' }],
  ])('are rejected with the message "%s"', async (says, columns, vidColumns) => {
    await expect(open(columns, vidColumns)).rejects.toThrow(says);
  });
});
