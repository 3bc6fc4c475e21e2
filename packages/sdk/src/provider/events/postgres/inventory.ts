/**
 * Counts the rows, references, and people of all events. The counts have no noise, so only the provider's operator may
 * see them.
 */
import type { ReferenceInventory, SourceOverview, VidCounts, VidRanges } from '../source.ts';
import { Parameters, quoteName } from './parameters.ts';
import type { Session } from './session.ts';
import type { Table } from './statement.ts';

export async function referencesOf(
  session: Session,
  { name, columns: { reference, day } }: Table,
  limit: number,
): Promise<ReferenceInventory[]> {
  const rows = await session.rows(
    `SELECT ${reference} AS reference, count(*), count(DISTINCT ${day}), min(${day}), max(${day})
     FROM ${name} AS e WHERE ${reference} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${limit}`,
  );
  return rows.map(([reference, count, days, firstDay, lastDay]) => ({
    reference: reference!,
    rows: Number(count),
    days: Number(days),
    firstDay: firstDay ?? '',
    lastDay: lastDay ?? '',
  }));
}

export async function overviewOf(session: Session, { name, columns }: Table): Promise<SourceOverview> {
  const attributes = [...columns.attributes];
  const nulls = (sql: string) => `count(*) FILTER (WHERE ${sql} IS NULL)`;
  const figures = [
    ...['count(*)', `min(${columns.day})`, `max(${columns.day})`],
    ...columns.roles.map((role) => nulls(`e.${quoteName(role.name)}`)),
    ...attributes.flatMap(([, { sql }]) => [nulls(sql), `count(DISTINCT ${sql})`]),
  ];
  const [found] = await session.rows(`SELECT ${figures.join(', ')} FROM ${name} AS e`);
  const [rows, firstDay, lastDay, ...counts] = found!;
  const count = () => Number(counts.shift());
  return {
    rows: Number(rows),
    ...(firstDay && lastDay && { firstDay, lastDay }),
    nulls: columns.roles.map(count),
    attributes: attributes.map(([attribute]) => ({ name: attribute, nulls: count(), distinct: count() })),
  };
}

export async function vidsOf(
  session: Session,
  { name, columns }: Table,
  column: string,
  population: VidRanges | undefined,
): Promise<VidCounts> {
  const parameters = new Parameters();
  const ranges = [...(population ?? [])].sort((a, b) => (a.start < b.start ? -1 : 1));
  const bind = (end: 'start' | 'end') =>
    parameters.bind(
      ranges.map((range) => String(range[end])),
      'int8[]',
    );
  // The population's ranges do not overlap, so only the last range that begins at or before a VID can contain the VID.
  const isInside = `coalesce(vid <= (${bind('end')})[width_bucket(vid, ${bind('start')})], false)`;
  const outside = population === undefined ? '0' : `count(*) FILTER (WHERE NOT ${isInside})`;
  const vid = columns.vids.get(column)!;
  const [row] = await session.rows(
    `SELECT count(*), ${outside} FROM (SELECT DISTINCT ${vid} AS vid FROM ${name} AS e WHERE ${vid} IS NOT NULL) AS p`,
    population === undefined ? [] : parameters.values,
  );
  return { people: Number(row![0]), outside: Number(row![1]) };
}
