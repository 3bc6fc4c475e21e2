/** Lists the event group references in the events. The figures are exact, so only the provider's operator may see them. */
import type { Columns } from './columns.ts';
import { type Engine, rowsOf, type Watch } from './engine.ts';
import type { Source } from './source.ts';
import { Parameters } from './sql.ts';

/** A summary of one reference's events. */
export interface ReferenceInventory {
  reference: string;
  rows: number;
  /** The number of UTC days with events. */
  days: number;
  /** A UTC day such as `2026-07-28`. */
  firstDay: string;
  lastDay: string;
}

/** The maximum number of references in the list. An operator could not review a longer list. */
const MAX_REFERENCES = 10_000;

/** Returns the references, sorted by row count in descending order. */
export function inventoryOf(
  engine: Engine,
  source: Source,
  { eventGroup, day }: Columns,
  watch: Watch,
): Promise<ReferenceInventory[]> {
  return engine.use(watch, async (connection) => {
    const parameters = new Parameters();
    const sql = `SELECT ${eventGroup} AS reference, count(*) AS n, count(DISTINCT ${day}),
        CAST(min(${day}) AS VARCHAR), CAST(max(${day}) AS VARCHAR)
      FROM ${source.from(parameters)} WHERE ${eventGroup} IS NOT NULL
      GROUP BY reference ORDER BY n DESC, reference LIMIT ${MAX_REFERENCES}`;
    const rows = (await rowsOf(connection, sql, parameters)) as [string, bigint, bigint, string, string][];
    return rows.map(([reference, n, days, firstDay, lastDay]) => ({
      reference,
      rows: Number(n),
      days: Number(days),
      firstDay,
      lastDay,
    }));
  });
}
