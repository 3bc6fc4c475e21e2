/** Checks the event files before the first query. */
import { type ColumnNames, type Columns, resolveColumns } from './columns.ts';
import { type Engine, EventsUnavailable, rowsOf, type Watch } from './engine.ts';
import { lineProblem } from './fileProblems.ts';
import type { Source } from './source.ts';
import { Parameters } from './sql.ts';

interface Opened {
  engine: Engine;
  source: Source;
  columns: Columns;
}

/**
 * Checks the columns of each file. Reads every line of a CSV file, because any line may be cut off. Does not read the rows
 * of a Parquet file, because a Parquet file that was cut off cannot be opened at all. Throws EventsUnavailable, which names
 * the file and the line.
 */
export async function verifyFiles(opened: Opened, names: ColumnNames, watch: Watch): Promise<void> {
  const { source, columns } = opened;
  for (const file of await source.files()) {
    watch.signal?.throwIfAborted();
    const found = await source.columnsOf(file);
    try {
      requireSameTypes(columns, resolveColumns(names, found));
    } catch (error) {
      throw new EventsUnavailable(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (source.fromWithRejects) await requireGoodLines(opened, source.fromWithRejects, watch);
}

async function requireGoodLines(
  { engine, columns }: Opened,
  from: Source['from'],
  watch: Watch,
): Promise<void> {
  const { vid, eventGroup, day, durationMillis = '0', attributes } = columns;
  const used = [vid, eventGroup, day, durationMillis, ...[...attributes.values()].map(({ sql }) => sql)];
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

/** Throws unless a file has the same attribute types as the first file. */
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
