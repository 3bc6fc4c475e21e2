import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventFiles, eventFiles } from '../../../../test/provider/eventFiles.ts';
import { type EventsConfig, EventsUnavailable, openEvents } from '../../events.ts';

let files: EventFiles;
beforeAll(async () => {
  files = await eventFiles();
});
afterAll(() => files?.remove());

const HEADER = 'vid,timestamp,event_group,duration,age\n';
const GOOD = '1,2026-07-01T00:00:00Z,spring,2.5,30\n';

/**
 * Writes event files, opens them, and verifies them. Returns the error message without the path of the folder, or
 * undefined if the files are valid.
 */
async function fault(config: Omit<EventsConfig, 'files'>, ...some: [name: string, text: string | Buffer][]) {
  for (const [name, text] of some) await writeFile(files.path(name), text);
  const opening = openEvents({ files: some.map(([name]) => files.path(name)), ...config });
  try {
    const events = await opening;
    await events.verify().finally(() => events.close());
    return undefined;
  } catch (error) {
    return (error as Error).message.replaceAll(files.path('x').slice(0, -1), '');
  }
}

describe('a CSV file', () => {
  it('that is valid is accepted, and so are empty values', async () => {
    expect(await fault({}, ['good.csv', `${HEADER}${GOOD.repeat(3)},,,,\n`])).toBeUndefined();
  });

  it.each<[string, string, RegExp]>([
    [
      'a VID that is not a number',
      'abc,2026-07-01T00:00:00Z,spring,2.5,30\n',
      /"abc" in the column vid is not a whole/,
    ],
    ['an invalid time', '1,yesterday,spring,2.5,30\n', /"yesterday" in the column timestamp is not a time/],
    [
      'a duration that is not a number',
      '1,2026-07-01T00:00:00Z,spring,long,30\n',
      /"long" in the column duration/,
    ],
    ['a truncated line', '1,2026-07-01T00:00:00Z,spr\n', /has 3 values instead of 5/],
    ['a line with too many values', '1,2026-07-01T00:00:00Z,spring,2.5,30,1\n', /has 6 values instead of 5/],
  ])('with %s is reported by line number, near the start and far from it', async (_what, line, message) => {
    for (const before of [3, 30_000]) {
      const text = HEADER + GOOD.repeat(before) + line + GOOD;
      const found = await fault({}, ['bad.csv', text]);
      expect(found).toMatch(new RegExp(`^bad\\.csv, line ${before + 2}: .*Correct the line`));
      expect(found).toMatch(message);
    }
  });

  it('that ends within a line is reported with the number of this line', async () => {
    const text = HEADER + GOOD.repeat(5) + GOOD.slice(0, 20);
    expect(await fault({}, ['cut.csv', text])).toMatch(/^cut\.csv, line 7: it has 2 values instead of 5/);
  });

  it('without a column that other files have is reported by name', async () => {
    const config = { columns: { attributes: ['age'] } };
    const others: [string, string] = ['a.csv', HEADER + GOOD];
    const odd = 'vid,timestamp,event_group,duration,years\n';
    expect(await fault(config, others, ['b.csv', odd + GOOD])).toMatch(
      /^b\.csv: columns\.attributes: the events have no column "age"\. They have .*Name the right one/,
    );
  });
});

describe('a Parquet file', () => {
  const select = "SELECT 1 AS vid, TIMESTAMP '2026-07-01' AS timestamp, 'spring' AS event_group, 30 AS age";

  it('that is truncated or has another format is reported by name', async () => {
    const whole = await readFile(await files.write('whole.parquet', select));
    const cut: [string, Buffer] = ['cut.parquet', whole.subarray(0, whole.length - 10)];
    const expected = 'cut.parquet is not a whole Parquet file: write it again, or take it out of the files.';
    expect(await fault({}, cut)).toBe(expected);
    expect(await fault({}, ['whole.parquet', whole], cut)).toBe(expected);
    expect(await fault({}, ['text.parquet', 'x'])).toMatch(/^text\.parquet is not a whole Parquet file/);
  });

  it('whose columns differ from those of the first file is reported by name', async () => {
    const whole: [string, Buffer] = [
      'whole.parquet',
      await readFile(await files.write('whole.parquet', select)),
    ];
    const typed = await readFile(await files.write('typed.parquet', select.replace('30', "'30'")));
    expect(await fault({}, whole, ['typed.parquet', typed])).toBe(
      'typed.parquet: the attribute age is string, and int in the first file: write all files alike.',
    );
    const renamed = await readFile(await files.write('renamed.parquet', select.replace('AS vid', 'AS id')));
    expect(await fault({}, whole, ['renamed.parquet', renamed])).toMatch(/^renamed\.parquet: columns\.vid: /);
  });
});

it.each(['missing.csv', 'missing-*.parquet'])('a missing file is reported by path: %s', async (name) => {
  const error = await openEvents({ files: files.path(name) }).catch((error) => error);
  expect(error).toBeInstanceOf(EventsUnavailable);
  expect(error.message).toBe(
    `There is no file ${files.path(name)}: put it there, or correct the path (events.files, or --events).`,
  );
});

it('a folder is rejected with a suggested pattern for its files', async () => {
  const folder = files.path('.').replace(/\/$/, '');
  const error = await openEvents({ files: folder }).catch((error) => error);
  expect(error).toBeInstanceOf(EventsUnavailable);
  expect(error.message).toBe(
    `${folder} is a folder: name its files, such as ${folder}/*.parquet (events.files, or --events).`,
  );
});
