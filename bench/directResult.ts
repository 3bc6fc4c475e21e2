/**
 * Computes reach-and-frequency histograms over 10,000,000 impressions in Parquet, with and without a CEL filter.
 * Compares their times with those of plain SQL aggregations of the same file in DuckDB.
 * Run: node bench/directResult.ts [--rows N] [--rounds N]
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type EventQuery, type Events, openEvents } from '@measurement-exchange/sdk/provider';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '7' },
    memory: { type: 'string' },
  },
});
const ROWS = Number(options.rows);
const ROUNDS = Math.max(5, Number(options.rounds));
const MAXIMUM_FREQUENCY = 10;
const MAXIMUM_RATIO = 3;
/** The exit code if a target was missed. It is not 1, because Node exits with 1 after an uncaught exception. */
const MISSED_TARGET = 3;
const MAXIMUM_BYTES = 2 ** 30;
const SETTINGS = { threads: String(availableParallelism()), memory_limit: '512MB' };

const FILTER = "gender == 'F' && age >= 18 && age < 55 && device in ['phone', 'tablet', 'tv']";
const FILTER_SQL = "gender = 'F' AND age >= 18 AND age < 55 AND device IN ('phone', 'tablet', 'tv')";
/**
 * The product cannot translate CEL's matches() into SQL. It evaluates that part of this filter in CEL, once per
 * distinct pair of country and device.
 */
const EVALUATED = "gender == 'F' && (country + '/' + device).matches('^[A-M].*/(phone|tv)$')";
const EVALUATED_SQL = "gender = 'F' AND regexp_matches(country || '/' || device, '^[A-M].*/(phone|tv)$')";
const INTERVAL = { start: new Date('2024-01-03T00:00:00Z'), end: new Date('2024-01-29T00:00:00Z') };

/**
 * Writes the Parquet file of impressions, unless it already exists, and returns its path. All values are computed from
 * the row number, so the file is the same on every machine.
 */
async function impressions(): Promise<string> {
  const folder = join(tmpdir(), 'mex-bench');
  const file = join(folder, `impressions-1-${ROWS}.parquet`);
  if (existsSync(file)) return file;
  console.log(`making ${file} …`);
  mkdirSync(folder, { recursive: true });
  const connection = await (await DuckDBInstance.create(':memory:', SETTINGS)).connect();
  // The VID is proportional to the square of a uniform random number, so a few people see many impressions, and many
  // people see few.
  await connection.run(`
    COPY (
      SELECT 1 + CAST(floor(pow((hash(range, 1) % 2147483647) / 2147483647.0, 2) * ${Math.ceil(ROWS / 5)}) AS BIGINT) AS vid,
        TIMESTAMP '2024-01-01' + INTERVAL (range * 2592000000 // ${ROWS}) MILLISECOND AS timestamp,
        'campaign-' || (hash(range, 2) % 3) AS event_group,
        CASE hash(range, 3) % 10 WHEN 0 THEN NULL ELSE ['F', 'M'][1 + (hash(range, 3) % 2)::INTEGER] END AS gender,
        CAST(13 + hash(range, 4) % 70 AS INTEGER) AS age,
        ['phone', 'tablet', 'tv', 'desktop'][1 + (hash(range, 5) % 4)::INTEGER] AS device,
        chr((65 + hash(range, 6) % 26)::INTEGER) || chr((65 + hash(range, 7) % 4)::INTEGER) AS country,
        (hash(range, 8) % 30000) / 1000.0::DOUBLE AS duration
      FROM range(${ROWS})
    ) TO '${file}.part' (FORMAT parquet)`);
  connection.closeSync();
  renameSync(`${file}.part`, file);
  return file;
}

function queryOf(filter: string | undefined, width: number): EventQuery {
  const references = ['campaign-0', 'campaign-1'];
  return {
    eventGroups: references.map((reference) => ({
      reference,
      interval: INTERVAL,
      ...(filter && { filter }),
    })),
    vidSampling: { start: 0, width },
  };
}

const bareSql = (file: string, condition: string) => `
  SELECT least(n, ${MAXIMUM_FREQUENCY}) AS k, count(*) FROM (
    SELECT vid, count(*) AS n FROM read_parquet('${file}')
    WHERE event_group IN ('campaign-0', 'campaign-1') AND timestamp >= TIMESTAMP '2024-01-03'
      AND timestamp < TIMESTAMP '2024-01-29' AND ${condition} GROUP BY vid) GROUP BY k ORDER BY k`;

async function bare(connection: DuckDBConnection, file: string, condition: string): Promise<bigint[]> {
  const rows = (await connection.runAndReadAll(bareSql(file, condition))).getRows();
  const histogram = new Array<bigint>(MAXIMUM_FREQUENCY).fill(0n);
  for (const [k, count] of rows) histogram[Number(k) - 1] = count as bigint;
  return histogram;
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1]!;

async function compare(): Promise<void> {
  const file = await impressions();
  const connection = await (await DuckDBInstance.create(':memory:', SETTINGS)).connect();
  const events = await openEvents({ files: file });
  const cases: { name: string; against?: string; run: () => Promise<bigint[]> }[] = [
    { name: 'bare aggregation', run: () => bare(connection, file, FILTER_SQL) },
    { name: 'frequencies, width 1', against: 'bare aggregation', run: () => frequencies(events, FILTER, 1) },
    {
      name: 'frequencies, width 0.5',
      against: 'bare aggregation',
      run: () => frequencies(events, FILTER, 0.5),
    },
    { name: 'bare, no filter', run: () => bare(connection, file, 'true') },
    { name: 'no filter, width 1', against: 'bare, no filter', run: () => frequencies(events, undefined, 1) },
    {
      name: 'no filter, width 0.5',
      against: 'bare, no filter',
      run: () => frequencies(events, undefined, 0.5),
    },
    { name: 'bare, regular expression', run: () => bare(connection, file, EVALUATED_SQL) },
    {
      name: 'evaluated by CEL, width 1',
      against: 'bare, regular expression',
      run: () => frequencies(events, EVALUATED, 1),
    },
  ];
  const times = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  const figures = new Map<string, bigint[]>();
  // The first round warms the file cache and does not count. Within each round, every case runs once.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, run } of cases) {
      const start = performance.now();
      figures.set(name, await run());
      if (round > 0) times.get(name)!.push(performance.now() - start);
    }
  }
  await events.close();
  connection.closeSync();

  const peak = peakOfOneProcess();
  const results = cases.map(({ name, against }) => {
    const own = times.get(name)!;
    const ratio = against === undefined ? undefined : median(own) / median(times.get(against)!);
    if (
      against !== undefined &&
      !name.includes('0.5') &&
      String(figures.get(name)) !== String(figures.get(against))
    ) {
      throw new Error(`${name} differs: ${figures.get(name)} and ${figures.get(against)}`);
    }
    return {
      name,
      against,
      medianMs: median(own),
      minMs: Math.min(...own),
      maxMs: Math.max(...own),
      ratio,
      times: own,
    };
  });
  console.table(
    Object.fromEntries(
      results.map(({ name, medianMs, minMs, maxMs, ratio }) => [
        name,
        {
          'median ms': Math.round(medianMs),
          'min ms': Math.round(minMs),
          'max ms': Math.round(maxMs),
          ratio: ratio?.toFixed(2) ?? '',
        },
      ]),
    ),
  );
  console.log(`peak memory of a process that only computes: ${(peak / 2 ** 20).toFixed(0)} MiB (limit 1024)`);
  const within = results.every(({ ratio = 0 }) => ratio <= MAXIMUM_RATIO) && peak < MAXIMUM_BYTES;
  console.log(
    within ? `every ratio is at most ${MAXIMUM_RATIO}` : `OVER: a ratio above ${MAXIMUM_RATIO}, or memory`,
  );
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'directResult.json'),
    JSON.stringify(
      { rows: ROWS, cores: availableParallelism(), node: process.version, results, peak },
      null,
      2,
    ),
  );
  process.exitCode = within ? 0 : MISSED_TARGET;
}

function frequencies(events: Events, filter: string | undefined, width: number): Promise<bigint[]> {
  return events.frequencies(queryOf(filter, width), MAXIMUM_FREQUENCY);
}

function peakOfOneProcess(): number {
  const args = [import.meta.filename, '--rows', String(ROWS), '--memory', 'yes'];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/**
 * Prints the peak memory of this process in bytes. The process only computes histograms, so the peak memory includes
 * nothing else.
 */
async function memory(): Promise<void> {
  const events = await openEvents({ files: await impressions() });
  for (const filter of [FILTER, undefined, EVALUATED]) await frequencies(events, filter, 0.5);
  await events.close();
  console.log(process.resourceUsage().maxRSS * 1024);
}

await (options.memory === undefined ? compare() : memory());
