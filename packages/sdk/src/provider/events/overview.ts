/** Describes the events as a whole. The figures are exact, so only the provider's operator may see them. */
import { BIGINT, type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import type { AttributeType } from '../../filters/types.ts';
import { type ColumnNames, DEFAULT_COLUMNS } from './columns.ts';
import { rowsOf, type Watch } from './engine.ts';
import type { EventData } from './selection.ts';
import { Parameters, quoteName } from './sql.ts';

export interface EventsOverview {
  files: number;
  rows: number;
  /** The number of different VIDs. */
  people: number;
  /** The number of VIDs outside of the given population. Absent if no population was given. */
  peopleOutside?: number;
  /** The first and the last UTC day, such as `2026-07-28`. Absent if there are no events. */
  firstDay?: string;
  lastDay?: string;
  /** The columns for the VID, the timestamp, the event group, and the duration. */
  columns: ColumnOverview[];
  attributes: AttributeOverview[];
}

export interface ColumnOverview {
  role: 'vid' | 'timestamp' | 'eventGroup' | 'duration';
  name: string;
  /** The engine's name of the type, such as `BIGINT`. */
  type: string;
  nulls: number;
}

export interface AttributeOverview {
  name: string;
  type: AttributeType;
  nulls: number;
  distinct: number;
}

/** Ranges of VIDs that do not overlap. Both ends are included. */
export type VidRanges = readonly { start: bigint; end: bigint }[];

export interface OverviewOptions extends Watch {
  population?: VidRanges | undefined;
}

const ROLES = ['vid', 'timestamp', 'eventGroup', 'duration'] as const;

/** Computes the overview. It reads all events, so it takes about as long as a query over all events. */
export async function overviewOf(
  data: EventData,
  names: ColumnNames,
  { population, ...watch }: OverviewOptions,
): Promise<EventsOverview> {
  const { engine, source, columns } = data;
  const roles = ROLES.flatMap((role) => {
    const name = names[role] ?? DEFAULT_COLUMNS[role];
    const column = source.columns.find((each) => each.name === name);
    return column ? [{ role, name, type: String(column.type) }] : [];
  });
  const attributes = [...columns.attributes];
  const nulls = (sql: string) => `count(*) FILTER (WHERE (${sql}) IS NULL)`;
  return engine.use(watch, async (connection) => {
    const parameters = new Parameters();
    const figures = [
      'count(*)',
      `CAST(min(${columns.day}) AS VARCHAR)`,
      `CAST(max(${columns.day}) AS VARCHAR)`,
      ...roles.map(({ name }) => nulls(quoteName(name))),
      ...attributes.flatMap(([, { sql }]) => [nulls(sql), `count(DISTINCT ${sql})`]),
    ];
    const select = `SELECT ${figures.join(', ')} FROM ${source.from(parameters)}`;
    const [found] = await rowsOf(connection, select, parameters);
    const [rows, firstDay, lastDay, ...counts] = found as [bigint, string | null, string | null, ...bigint[]];
    const count = () => Number(counts.shift());
    return {
      files: (await source.files()).length,
      rows: Number(rows),
      ...(firstDay !== null && lastDay !== null && { firstDay, lastDay }),
      columns: roles.map((role) => ({ ...role, nulls: count() })),
      attributes: attributes.map(([name, { type }]) => ({ name, type, nulls: count(), distinct: count() })),
      ...(await peopleIn(connection, data, population)),
    };
  });
}

async function peopleIn(
  connection: DuckDBConnection,
  { source, columns }: EventData,
  population: VidRanges | undefined,
): Promise<Pick<EventsOverview, 'people' | 'peopleOutside'>> {
  await connection.run('CREATE TEMP TABLE ranges (first BIGINT, last BIGINT)');
  if (population !== undefined && population.length > 0) {
    const chunk = DuckDBDataChunk.create([BIGINT, BIGINT]);
    const appender = await connection.createAppender('ranges');
    for (let at = 0; at < population.length; at += CHUNK) {
      chunk.setRows(population.slice(at, at + CHUNK).map(({ start, end }) => [start, end]));
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }
  const parameters = new Parameters();
  // Ranges do not overlap, so only the last range that begins at or before a VID can contain the VID.
  const sql = `SELECT count(*), count(*) FILTER (WHERE last IS NULL OR vid > last)
    FROM (SELECT DISTINCT ${columns.vid} AS vid FROM ${source.from(parameters)} WHERE ${columns.vid} IS NOT NULL)
    ASOF LEFT JOIN ranges ON vid >= first`;
  const [counts] = await rowsOf(connection, sql, parameters);
  const [people, outside] = (counts as bigint[]).map(Number) as [number, number];
  return { people, ...(population && { peopleOutside: outside }) };
}

/** The maximum number of rows in one of the engine's data chunks. */
const CHUNK = 2048;
