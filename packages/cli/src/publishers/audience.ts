/** Creates synthetic, overlapping audiences as Parquet files, and computes the true figures for them. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  DEMO_GROUPS,
  demoSubpopulations,
  positionInCycle,
} from '@measurement-exchange/exchange/demoPopulation';
import type { ServerSource } from '@measurement-exchange/sdk/provider';

/** The campaign lasts 28 days, so every weekday occurs equally often. */
export const CAMPAIGN = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' } as const;
const CAMPAIGN_SECONDS = (Date.parse(CAMPAIGN.end) - Date.parse(CAMPAIGN.start)) / 1000;

export interface Audience {
  dataProvider: string;
  file: string;
  /** The database table with the same events as `file`. Set if the provider's agent counts events in a database. */
  source?: ServerSource;
  impressions: number;
}

/**
 * For each provider, `share` is the fraction of all people that it reaches, and `repeat` is the probability of one more
 * impression after each impression. Nobody has more than 30 impressions.
 */
const AUDIENCES = [
  { share: 0.45, repeat: 0.66 },
  { share: 0.32, repeat: 0.55 },
  { share: 0.2, repeat: 0.5 },
];

/** The references (`eventGroupReferenceId`) of the event groups. Every provider has one event group per reference. */
export const EVENT_GROUPS = ['autumn-video', 'autumn-display'] as const;

/**
 * Writes the impressions of each of three providers to a Parquet file. All random values are hashes of the VID and the
 * seed, so the same seed always produces the same files.
 */
export async function createAudiences(
  db: DuckDBConnection,
  options: { dataProviders: string[]; directory: string; seed: number; population: number },
): Promise<Audience[]> {
  const { dataProviders, directory, seed, population } = options;
  const audiences: Audience[] = [];
  for (const [index, { share, repeat }] of AUDIENCES.entries()) {
    const dataProvider = dataProviders[index]!;
    const file = join(directory, `${dataProvider.split('/')[1]}.parquet`);
    const salt = seed * 1000 + index * 10;
    await db.run(`COPY (
      WITH reached AS (
        SELECT vid, 1 + least(29, floor(ln((hash(vid, ${salt + 1}) % 1000000 + 1) / 1000001.0) / ln(${repeat})))::BIGINT AS times
        FROM range(1, ${population} + 1) AS people(vid)
        WHERE hash(vid, ${salt}) % 1000 < ${Math.round(share * 1000)}),
      impression AS (SELECT vid, unnest(range(times)) AS i FROM reached)
      SELECT
        vid,
        TIMESTAMP '${CAMPAIGN.start.slice(0, 10)}'
          + to_seconds((hash(vid, i, ${salt + 2}) % ${CAMPAIGN_SECONDS})::BIGINT) AS timestamp,
        CASE WHEN hash(vid, i, ${salt + 3}) % 3 = 0 THEN '${EVENT_GROUPS[1]}' ELSE '${EVENT_GROUPS[0]}' END AS event_group,
        (3 + hash(vid, i, ${salt + 4}) % 58)::INTEGER AS duration,
        ${attributeOf('sex')} AS gender,
        ${attributeOf('age')} AS age_group,
        CASE hash(vid, i, ${salt + 5}) % 3 WHEN 0 THEN 'tv' WHEN 1 THEN 'phone' ELSE 'desktop' END AS device
      FROM impression
      ORDER BY timestamp, vid
    ) TO ${quoted(file)} (FORMAT parquet)`);
    const [[impressions]] = (await db.runAndReadAll(`SELECT count(*) FROM ${quoted(file)}`)).getRows() as [
      [bigint],
    ];
    audiences.push({ dataProvider, file, impressions: Number(impressions) });
  }
  return audiences;
}

export type PopulationSpec = ReturnType<typeof populationSpec>;

/** Returns the people with VIDs 1 to `population`, with the same attributes as in the exchange's demo population. */
export function populationSpec(population: number) {
  return { subpopulations: demoSubpopulations(population) };
}

function attributeOf(name: 'sex' | 'age'): string {
  const position = positionInCycle('vid');
  const cases = DEMO_GROUPS.map((group) => `WHEN ${position} < ${group.end} THEN '${group[name]}'`);
  return `CASE ${cases.join(' ')} END`;
}

/**
 * Returns functions that compute the true figures with plain SQL. The functions do not use the providers' code, because
 * the true figures are used to check that code.
 */
export function truthOf(db: DuckDBConnection, files: string[], where = 'true') {
  const list = `[${files.map(quoted).join(', ')}]`;
  const one = async (sql: string) =>
    Number(((await db.runAndReadAll(sql)).getRows() as [[bigint | null]])[0][0] ?? 0);
  const events = `(SELECT * FROM read_parquet(${list}) WHERE ${where})`;
  return {
    reach: () => one(`SELECT count(DISTINCT vid) FROM ${events}`),
    impressions: (cap: number) =>
      one(`SELECT sum(least(n, ${cap})) FROM (SELECT count(*) AS n FROM ${events} GROUP BY vid)`),
    watchSeconds: (cap: number) =>
      one(`SELECT sum(least(n, ${cap})) FROM (SELECT sum(duration) AS n FROM ${events} GROUP BY vid)`),
    /** Counts people in the population rather than in the event files. */
    people: ({ subpopulations }: PopulationSpec) => {
      const rows = subpopulations.flatMap(({ attributes: [age, sex], vidRanges }) =>
        vidRanges.map(({ start, end }) => `('${age!.value}', '${sex!.value}', ${end - start + 1})`),
      );
      return one(`SELECT sum(n) FROM (VALUES ${rows.join(', ')}) AS people(age, sex, n) WHERE ${where}`);
    },
    frequencies: async (maximum: number) => {
      const rows = (
        await db.runAndReadAll(`SELECT least(n, ${maximum}) AS k, count(*) FROM
          (SELECT count(*) AS n FROM ${events} GROUP BY vid) GROUP BY k ORDER BY k`)
      ).getRows() as [bigint, bigint][];
      const counts = new Map(rows.map(([k, count]) => [Number(k), Number(count)]));
      return Array.from({ length: maximum }, (_, i) => counts.get(i + 1) ?? 0);
    },
  };
}

function quoted(file: string): string {
  return `'${file.replaceAll("'", "''")}'`;
}
