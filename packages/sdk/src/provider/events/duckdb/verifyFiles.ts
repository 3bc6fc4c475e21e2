/** Checks the event files before the first query. */
import type { RoleNames } from '../columns.ts';
import { EventsUnavailable } from '../errors.ts';
import type { Watch } from '../source.ts';
import { type Columns, resolveColumns } from './columns.ts';
import { rowsOf } from './engine.ts';
import { lineProblem } from './fileProblems.ts';
import type { EventTable, Opened } from './files.ts';
import { Parameters } from './sql.ts';

/**
 * Checks the columns of each file. Reads every line of a CSV file, because any line may be invalid. Does not read the
 * rows of a Parquet file, because the engine already detects an incomplete Parquet file when it opens the file. Throws
 * EventsUnavailable with a message that names the file and, if a CSV line is invalid, the line.
 */
export async function verifyFiles(opened: Opened, names: RoleNames, watch: Watch): Promise<void> {
  const { table, columns } = opened;
  for (const file of await table.files()) {
    watch.signal?.throwIfAborted();
    const found = await table.columnsOf(file);
    try {
      requireSameTypes(columns, resolveColumns(names, found));
    } catch (error) {
      throw new EventsUnavailable(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (table.fromWithRejects) await requireGoodLines(opened, table.fromWithRejects, watch);
}

async function requireGoodLines(
  { engine, columns }: Opened,
  from: EventTable['from'],
  watch: Watch,
): Promise<void> {
  const { vids, eventGroup, day, durationMillis = '0', count = '0', attributes } = columns;
  const filtered = [...attributes.values()].map(({ sql }) => sql);
  const used = [...vids.values(), eventGroup, day, durationMillis, count, ...filtered];
  const [bad] = await engine.use(watch, async (connection) => {
    const parameters = new Parameters();
    const counts = used.map((sql) => `count(${sql})`).join(', ');
    await rowsOf(connection, `SELECT ${counts} FROM ${from(parameters)}`, parameters);
    const first = `SELECT file_path, line, error_message FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
      ORDER BY file_path, line, column_idx LIMIT 1`;
    return rowsOf(connection, first, new Parameters());
  });
  if (bad === undefined) return;
  const [file, line, message] = bad as [string, bigint, string];
  throw new EventsUnavailable(lineProblem(file, String(line), message));
}

/** Throws unless every attribute of the first file is also in the other file, with the same type. */
function requireSameTypes(first: Columns, other: Columns): void {
  for (const [name, { type }] of first.attributes) {
    const found = other.attributes.get(name)?.type;
    if (found === type) continue;
    const instead = found === undefined ? 'is not there' : `is ${found}`;
    throw new Error(
      `the attribute ${name} ${instead}, and ${type} in the first file: write all files alike.`,
    );
  }
}
