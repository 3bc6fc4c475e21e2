/**
 * Describes the events as a whole. The numbers have no noise, so only the provider's operator is allowed to see them.
 */
import { BIGINT, type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import type { SourceOverview, VidCounts, VidRanges, Watch } from '../source.ts';
import { rowsOf } from './engine.ts';
import type { Opened } from './files.ts';
import { Parameters, quoteName } from './sql.ts';

/** Computes the overview, except for the counts of VIDs. The query reads all events. */
export function overviewOf({ engine, table, columns }: Opened, watch: Watch): Promise<SourceOverview> {
  const attributes = [...columns.attributes];
  const nulls = (sql: string) => `count(*) FILTER (WHERE (${sql}) IS NULL)`;
  return engine.use(watch, async (connection) => {
    const parameters = new Parameters();
    const figures = [
      'count(*)',
      `CAST(min(${columns.day}) AS VARCHAR)`,
      `CAST(max(${columns.day}) AS VARCHAR)`,
      ...columns.roles.map(({ name }) => nulls(quoteName(name))),
      ...attributes.flatMap(([, { sql }]) => [nulls(sql), `count(DISTINCT ${sql})`]),
    ];
    const select = `SELECT ${figures.join(', ')} FROM ${table.from(parameters)}`;
    const [found] = await rowsOf(connection, select, parameters);
    const [rows, firstDay, lastDay, ...counts] = found as [bigint, string | null, string | null, ...bigint[]];
    const count = () => Number(counts.shift());
    return {
      files: (await table.files()).length,
      rows: Number(rows),
      ...(firstDay !== null && lastDay !== null && { firstDay, lastDay }),
      nulls: columns.roles.map(count),
      attributes: attributes.map(([name]) => ({ name, nulls: count(), distinct: count() })),
    };
  });
}

/** Counts the distinct VIDs, and how many are outside of the population. `vid` is the SQL expression of a VID. */
export function countVids(
  { engine, table }: Opened,
  vid: string,
  population: VidRanges | undefined,
  watch: Watch,
): Promise<VidCounts> {
  return engine.use(watch, async (connection) => {
    await fillRanges(connection, population ?? []);
    const parameters = new Parameters();
    // The population's ranges do not overlap, so only the last range that begins at or before a VID can contain it.
    const sql = `SELECT count(*), count(*) FILTER (WHERE last IS NULL OR vid > last)
      FROM (SELECT DISTINCT ${vid} AS vid FROM ${table.from(parameters)} WHERE ${vid} IS NOT NULL)
      ASOF LEFT JOIN ranges ON vid >= first`;
    const [counts] = await rowsOf(connection, sql, parameters);
    const [people, outside] = (counts as bigint[]).map(Number) as [number, number];
    return { people, outside: population ? outside : 0 };
  });
}

async function fillRanges(connection: DuckDBConnection, population: VidRanges): Promise<void> {
  await connection.run('CREATE TEMP TABLE ranges (first BIGINT, last BIGINT)');
  if (population.length === 0) return;
  const chunk = DuckDBDataChunk.create([BIGINT, BIGINT]);
  const appender = await connection.createAppender('ranges');
  for (let at = 0; at < population.length; at += CHUNK) {
    chunk.setRows(population.slice(at, at + CHUNK).map(({ start, end }) => [start, end]));
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/** The maximum number of rows in one of the engine's data chunks. */
const CHUNK = 2048;
