/**
 * Lists the event group references in the events. Each reference has its number of rows and its days. The numbers have
 * no noise, so only the provider's operator may see them.
 */
import type { ReferenceInventory, Watch } from '../source.ts';
import { rowsOf } from './engine.ts';
import type { Opened } from './files.ts';
import { Parameters } from './sql.ts';

type Row = [reference: string, rows: bigint, days: bigint, firstDay: string | null, lastDay: string | null];

/** Returns at most `limit` references, sorted by their number of rows in descending order. */
export function referencesOf(
  { engine, table, columns: { eventGroup, day } }: Opened,
  limit: number,
  watch: Watch,
): Promise<ReferenceInventory[]> {
  return engine.use(watch, async (connection) => {
    const parameters = new Parameters();
    const sql = `SELECT ${eventGroup} AS reference, count(*) AS n, count(DISTINCT ${day}),
        CAST(min(${day}) AS VARCHAR), CAST(max(${day}) AS VARCHAR)
      FROM ${table.from(parameters)} WHERE ${eventGroup} IS NOT NULL
      GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${limit}`;
    const rows = (await rowsOf(connection, sql, parameters)) as Row[];
    return rows.map(([reference, n, days, firstDay, lastDay]) => ({
      reference,
      rows: Number(n),
      days: Number(days),
      firstDay: firstDay ?? '',
      lastDay: lastDay ?? '',
    }));
  });
}
