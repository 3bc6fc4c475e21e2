/**
 * Computes figures about a table's rows. The figures have no noise, so only the provider's operator is allowed to see
 * them.
 */
import type { ReferenceInventory, SourceOverview, VidCounts, VidRanges, Watch } from '../source.ts';
import { Parameters, quoteName } from './parameters.ts';
import type { Server } from './server.ts';
import type { Table } from './statement.ts';

export async function references(
  server: Server,
  { from, columns }: Table,
  limit: number,
  watch: Watch,
): Promise<ReferenceInventory[]> {
  const { eventGroup, times } = columns;
  const sql = `SELECT ${eventGroup} AS reference, count() AS n, uniqExact(${times.day}), toString(min(${times.day})), toString(max(${times.day}))
FROM ${from} WHERE isNotNull(${eventGroup}) GROUP BY reference ORDER BY n DESC, reference LIMIT ${limit}`;
  const { rows } = await server.rows(sql, new Parameters(), watch);
  return (rows as [string, string, string, string, string][]).map(
    ([reference, n, days, firstDay, lastDay]) => ({
      reference,
      rows: Number(n),
      days: Number(days),
      firstDay,
      lastDay,
    }),
  );
}

export async function overview(
  server: Server,
  { from, columns }: Table,
  watch: Watch,
): Promise<SourceOverview> {
  const attributes = [...columns.attributes];
  const figures = [
    'count()',
    `toString(min(${columns.times.day}))`,
    `toString(max(${columns.times.day}))`,
    ...columns.roles.map(({ name }) => `countIf(isNull(${quoteName(name)}))`),
    ...attributes.flatMap(([, { sql }]) => [`countIf(isNull(${sql}))`, `uniqExact(${sql})`]),
  ];
  const { rows } = await server.rows(`SELECT ${figures.join(', ')} FROM ${from}`, new Parameters(), watch);
  const [count, firstDay, lastDay, ...counts] = rows[0] as string[];
  const next = () => Number(counts.shift());
  return {
    rows: Number(count),
    ...(Number(count) > 0 && firstDay && lastDay && { firstDay, lastDay }),
    nulls: columns.roles.map(next),
    attributes: attributes.map(([name]) => ({ name, nulls: next(), distinct: next() })),
  };
}

/**
 * Counts the distinct VIDs, and how many of them are outside of the population. The population's ranges do not overlap,
 * so only the last range that begins at or before a VID can contain the VID.
 */
export async function countVids(
  server: Server,
  { from, columns }: Table,
  { vid, population }: { vid: string; population: VidRanges | undefined },
  watch: Watch,
): Promise<VidCounts> {
  const parameters = new Parameters();
  const column = columns.vids.get(vid)!;
  const people = `SELECT DISTINCT assumeNotNull(${column}) AS person FROM ${from} WHERE isNotNull(${column})`;
  const outside = population === undefined ? '0' : 'countIf(found = 0 OR person > last)';
  const list = (population ?? []).map(({ start, end }) => `(${start},${end})`).join(',');
  const ranges = parameters.raw(`[${list}]`, 'Array(Tuple(Int64, Int64))');
  const sql =
    population === undefined
      ? `SELECT count(), 0 FROM (${people})`
      : `SELECT count(), ${outside} FROM (SELECT 1 AS one, person FROM (${people})) AS people
ASOF LEFT JOIN (SELECT 1 AS one, 1 AS found, range.1 AS first, range.2 AS last FROM (SELECT arrayJoin(${ranges}) AS range)) AS ranges
ON people.one = ranges.one AND people.person >= ranges.first`;
  const { rows } = await server.rows(sql, parameters, watch);
  const [count, beyond] = rows[0] as [string, string];
  return { people: Number(count), outside: Number(beyond) };
}
