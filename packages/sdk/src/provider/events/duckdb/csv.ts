/** Reads CSV files. The column types are guessed once, from the first lines of the first file. */
import { type DuckDBType, DuckDBTypeId, TIMESTAMP, VARCHAR } from '@duckdb/node-api';
import type { RoleNames } from '../columns.ts';
import { type Column, csvTypes } from './columns.ts';
import type { Engine } from './engine.ts';
import { quoteName, quoteText } from './sql.ts';
import { bindFiles, columnsOf, type From } from './table.ts';

/** The maximum number of bad lines that the engine stores per file. Only the first bad line is reported. */
const MAX_REJECTS = 100;

const reading =
  (files: string[], options: string): From =>
  (parameters) =>
    `read_csv(${bindFiles(files, parameters)}, header = true, ${options})`;

export async function csvReader(engine: Engine, files: string[], names: RoleNames) {
  // Ignore errors here, because a bad line near the start would keep the engine from detecting the columns.
  const guessed = await columnsOf(engine, reading(files, 'ignore_errors = true'));
  const columns = withTypes(guessed, names);
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]));
  // Use the guessed types for every query, so that files added later do not change the types.
  const typed = (zoned: DuckDBType) =>
    `types = {${columns.map((column) => typeText(column, zoned)).join(', ')}}`;
  const read = reading(files, typed(VARCHAR));
  const zoned = columns.filter(isZoned).map(({ name }) => quoteName(name));
  const casts = zoned.map((name) => `CAST(${name} AS TIMESTAMPTZ) AS ${name}`).join(', ');
  // Read TIMESTAMPTZ columns as text and cast them, so that invalid text is an error. If the engine read such a column
  // directly as TIMESTAMPTZ, it would turn invalid text into NULL.
  const readCast: From = (parameters) => `(SELECT * REPLACE (${casts}) FROM ${read(parameters)})`;
  return {
    columns,
    from: zoned.length === 0 ? read : readCast,
    fromWithRejects: reading(
      files,
      `${typed(TIMESTAMP)}, store_rejects = true, rejects_limit = ${MAX_REJECTS}`,
    ),
    async columnsOf(file: string) {
      const header = await columnsOf(engine, reading([file], 'all_varchar = true, ignore_errors = true'));
      return header.map(({ name, type }) => ({ name, type: typeOf.get(name) ?? type }));
    },
  };
}

const isZoned = ({ type }: Column) => type.typeId === DuckDBTypeId.TIMESTAMP_TZ;

/** Returns a column's name and type as SQL text. The type `zoned` replaces TIMESTAMPTZ. */
function typeText(column: Column, zoned: DuckDBType): string {
  const type = isZoned(column) ? zoned : column.type;
  return `${quoteText(column.name)}: ${quoteText(String(type))}`;
}

/**
 * Returns the columns with the types in which they are read. If the engine could not guess the type of a column, the
 * type of its role is used, so that bad lines are reported.
 */
function withTypes(guessed: Column[], names: RoleNames): Column[] {
  const { fixed, unlessGuessed } = csvTypes(names);
  return guessed.map(({ name, type }) => {
    const fallback = type.typeId === DuckDBTypeId.VARCHAR ? unlessGuessed.get(name) : undefined;
    return { name, type: fixed.get(name) ?? fallback ?? type };
  });
}
