import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventFiles, eventFiles } from '../../../../test/provider/eventFiles.ts';
import { type EventQuery, EventsUnavailable, openEvents, QueryFailed } from '../../events.ts';
import { startEngine } from './engine.ts';

let files: EventFiles;
/** A file whose scan takes long enough to be interrupted. */
let slow: string;
beforeAll(async () => {
  files = await eventFiles();
  slow = await files.write(
    'slow.parquet',
    `SELECT (hash(range) >> 1)::BIGINT AS vid, TIMESTAMP '2024-01-01' AS timestamp, 'g' AS event_group,
       range AS a FROM range(3000000)`,
  );
});
afterAll(() => files?.remove());

const QUERY: EventQuery = {
  eventGroups: [{ reference: 'g', interval: { start: new Date('2024-01-01'), end: new Date('2025-01-01') } }],
  vidSampling: { start: 0, width: 1 },
};
const select = (rows: number, from = 0) =>
  `SELECT range AS vid, TIMESTAMP '2024-01-01' AS timestamp, 'g' AS event_group, range % 7 AS a
     FROM range(${from}, ${from + rows})`;
const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('the query succeeded'),
    (error: unknown) => error as Error,
  );

/** Runs `work` with a new folder for temporary files. Returns the files that `work` leaves in this folder. */
async function leftovers(work: () => Promise<void>): Promise<string[]> {
  const [before, folder] = [process.env.TMPDIR, files.path('scratch')];
  await mkdir(folder, { recursive: true });
  process.env.TMPDIR = folder;
  try {
    await work();
    return await readdir(folder);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

describe('files', () => {
  it('may be a list, or a pattern that matches more files later', async () => {
    await files.write('day-1.parquet', select(10));
    const events = await openEvents({ files: files.path('day-*.parquet') });
    expect(await events.frequencies(QUERY, 1)).toEqual([10n]);
    const other = await files.write('day-2.parquet', select(5, 100));
    expect(await events.frequencies(QUERY, 1)).toEqual([15n]);
    const both = await openEvents({ files: [files.path('day-1.parquet'), other] });
    expect(await both.frequencies(QUERY, 1)).toEqual([15n]);
    await events.close();
    await both.close();
  });

  it('are read in the format of the option, regardless of their name', async () => {
    await files.write('text.csv', select(3));
    await expect(openEvents({ files: files.path('text.csv'), format: 'parquet' })).rejects.toThrow(
      EventsUnavailable,
    );
    const events = await openEvents({ files: files.path('text.csv'), format: 'csv' });
    expect(await events.impressions(QUERY, 1)).toBe(3n);
    await events.close();
  });

  it('must be on this machine, and must not be an empty list', async () => {
    await expect(openEvents({ files: 'https://example.org/events.parquet' })).rejects.toThrow(
      'on this machine',
    );
    await expect(openEvents({ files: ['s3://bucket/events.parquet'] })).rejects.toThrow('on this machine');
    await expect(openEvents({ files: [] })).rejects.toThrow('files must name');
  });

  it.each(['missing.parquet', 'missing-*.parquet'])(
    'that are missing are a retryable error: %s',
    async (name) => {
      const error = await rejection(openEvents({ files: files.path(name) }));
      expect(error).toBeInstanceOf(EventsUnavailable);
      expect(error.message).toContain(name);
      expect(error.message).not.toContain('SELECT');
    },
  );

  it('that are broken, or removed later, are a retryable error', async () => {
    await writeFile(files.path('broken.parquet'), 'PAR1 this is not Parquet');
    await expect(openEvents({ files: files.path('broken.parquet') })).rejects.toThrow(EventsUnavailable);
    const file = await files.write('passing.parquet', select(3));
    const events = await openEvents({ files: file });
    await rm(file);
    await expect(events.impressions(QUERY, 1)).rejects.toThrow(EventsUnavailable);
    await files.write('passing.parquet', select(4));
    expect(await events.impressions(QUERY, 1)).toBe(4n);
    await events.close();
  });

  it('with a VID beyond 64 bits are an error, so that the VID does not collide with another', async () => {
    const huge = `SELECT 18446744073709551615::UBIGINT AS vid, * EXCLUDE vid FROM (${select(1)})`;
    const events = await openEvents({ files: await files.write('huge.parquet', huge) });
    await expect(events.impressions(QUERY, 1)).rejects.toThrow(EventsUnavailable);
    await events.close();
  });
});

describe('the engine', () => {
  it('reads only the given files, and its settings cannot be changed', async () => {
    const file = await files.write('given.parquet', select(1));
    const other = await files.write('other.parquet', select(1));
    const engine = await startEngine({ files: [file] });
    const run = (sql: string) =>
      engine.use({}, async (connection) => (await connection.runAndReadAll(sql)).getRows());
    expect(await run(`SELECT count(*) FROM '${file}'`)).toEqual([[1n]]);
    await expect(run(`SELECT * FROM '${other}'`)).rejects.toThrow('Permission Error');
    await expect(run("SELECT * FROM read_csv('/etc/passwd')")).rejects.toThrow('Permission Error');
    await expect(run(`COPY (SELECT 1) TO '${files.path('written.csv')}'`)).rejects.toThrow(
      'Permission Error',
    );
    await expect(run('SET enable_external_access = true')).rejects.toThrow(EventsUnavailable);
    await expect(run("SET allowed_directories = ['/']")).rejects.toThrow('locked');
    await expect(run('INSTALL httpfs')).rejects.toThrow(EventsUnavailable);
    expect(await run("SELECT current_setting('TimeZone')")).toEqual([['UTC']]);
    await engine.close();
  });

  it('throws QueryFailed for a query that it cannot run, but not for events that it cannot read', async () => {
    const engine = await startEngine({ files: [files.path('any.parquet')], memoryLimit: '32MB' });
    const run = (sql: string) => rejection(engine.use({}, (connection) => connection.run(sql)));
    expect(await run('SELECT list(range) FROM range(30000000)')).toBeInstanceOf(QueryFailed);
    expect(await run('SELECT FROM')).toBeInstanceOf(QueryFailed);
    expect(await run("FROM 'any.parquet'")).not.toBeInstanceOf(QueryFailed);
    await engine.close();
  });

  it('counts 2,000,000 people with a memory limit of 64 MB', async () => {
    const file = await files.write('many.parquet', select(2_000_000));
    const events = await openEvents({ files: file, memoryLimit: '64MB', threads: 2 });
    expect(await events.frequencies(QUERY, 1)).toEqual([2_000_000n]);
    await events.close();
  });

  it('reports invalid settings at the start, and leaves no files behind', async () => {
    const left = await leftovers(async () => {
      await expect(openEvents({ files: 'x.parquet', memoryLimit: 'lots' })).rejects.toThrow('memoryLimit');
      await expect(openEvents({ files: 'x.parquet', threads: 0 })).rejects.toThrow('threads');
      await expect(openEvents({ files: files.path('missing.parquet') })).rejects.toThrow(EventsUnavailable);
    });
    expect(left).toEqual([]);
  });

  it('reports the progress of a scan, in ascending order up to 100', async () => {
    const events = await openEvents({ files: await files.write('progress.parquet', select(200_000)) });
    for (const filter of ['a > 1', "string(a).matches('[2-6]')"]) {
      const seen: number[] = [];
      const eventGroups = QUERY.eventGroups.map((group) => ({ ...group, filter }));
      await events.impressions({ ...QUERY, eventGroups, onProgress: (percent) => seen.push(percent) }, 1);
      expect(seen.at(-1)).toBe(100);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    }
    await events.close();
  });
});

describe('a query', () => {
  const evaluated: EventQuery = {
    ...QUERY,
    eventGroups: QUERY.eventGroups.map((group) => ({ ...group, filter: "string(a).matches('(1|2)+3')" })),
  };

  it.each([
    ['in the engine', QUERY],
    ['while CEL evaluates', evaluated],
  ])('is cancelled by its signal %s, and the events stay usable', async (_title, query) => {
    const events = await openEvents({ files: slow });
    const controller = new AbortController();
    const running = rejection(events.impressions({ ...query, signal: controller.signal }, 1));
    await sleep(20);
    const reason = new Error('not wanted any more');
    controller.abort(reason);
    expect(await running).toBe(reason);
    const never = events.impressions({ ...query, signal: AbortSignal.abort(reason) }, 1);
    expect(await rejection(never)).toBe(reason);
    expect(await events.impressions({ ...QUERY, eventGroups: [] }, 1)).toBe(0n);
    await events.close();
  });

  it('is rejected with EventsUnavailable if the events are closed during or before it', async () => {
    const left = await leftovers(async () => {
      const events = await openEvents({ files: slow });
      const running = rejection(events.impressions(evaluated, 1));
      await sleep(20);
      expect(await readdir(files.path('scratch'))).toHaveLength(1);
      await events.close();
      expect(await running).toBeInstanceOf(EventsUnavailable);
      expect(await rejection(events.impressions(QUERY, 1))).toBeInstanceOf(EventsUnavailable);
      await events.close();
    });
    expect(left).toEqual([]);
  });

  it('is interrupted by an abort or a close during a long statement', async () => {
    const engine = await startEngine({ files: [files.path('any.parquet')] });
    const years = (watch: { signal?: AbortSignal }) =>
      rejection(
        engine.use(watch, (connection) => connection.run('SELECT sum(range) FROM range(1000000000000000)')),
      );
    const controller = new AbortController();
    const cancelled = years({ signal: controller.signal });
    const closed = years({});
    await sleep(20);
    controller.abort();
    expect((await cancelled).name).toBe('AbortError');
    await engine.close();
    expect(await closed).toBeInstanceOf(EventsUnavailable);
  });

  it('may run concurrently with others', async () => {
    const events = await openEvents({ files: await files.write('beside.parquet', select(1000)) });
    const filters = ['a == 1', "string(a).matches('2')", 'a > 2', "string(a).matches('[12]')"];
    const counts = await Promise.all(
      filters.map((filter) =>
        events.impressions({ ...QUERY, eventGroups: [{ ...QUERY.eventGroups[0]!, filter }] }, 1),
      ),
    );
    const expected = [1, 2, [3, 4, 5, 6], [1, 2]].map((wanted) =>
      BigInt(Array.from({ length: 1000 }, (_, i) => i % 7).filter((a) => [wanted].flat().includes(a)).length),
    );
    expect(counts).toEqual(expected);
    await events.close();
  });
});
