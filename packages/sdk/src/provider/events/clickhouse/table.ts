/**
 * Reads the columns of the event table. Refuses a table whose rows can change later, with one exception: a table in
 * which later rows replace or cancel earlier ones is accepted if the agent reads it with FINAL.
 */
import { Parameters, quoteName } from './parameters.ts';
import type { Server } from './server.ts';
import { type Column, typeOf } from './types.ts';

export interface TableName {
  database: string | undefined;
  table: string;
}

const NAME = /^(?:([A-Za-z_][A-Za-z0-9_$]*)\.)?([A-Za-z_][A-Za-z0-9_$]*)$/;

export function tableName(text: string): TableName {
  const [, database, table] = NAME.exec(text) ?? [];
  if (table !== undefined) return { database, table };
  throw new Error(
    'events.source.table: it must be a name, or a database and a name with a dot between them.',
  );
}

export const quotedTable = ({ database, table }: TableName) =>
  [database, table].flatMap((name) => (name === undefined ? [] : [quoteName(name)])).join('.');

/** SQL condition: true for the rows of a system table that describe the given table. */
function isTable({ database, table }: TableName, parameters: Parameters, tableColumn: string): string {
  const where = database === undefined ? 'currentDatabase()' : parameters.text(database);
  return `database = ${where} AND ${tableColumn} = ${parameters.text(table)}`;
}

export async function tableColumns(server: Server, name: TableName): Promise<Column[]> {
  const parameters = new Parameters();
  const sql = `SELECT name, type FROM system.columns WHERE ${isTable(name, parameters, 'table')} ORDER BY position`;
  const { rows } = await server.rows(sql, parameters, {});
  if (rows.length === 0) {
    throw new Error(
      'events.source.table: there is no such table, or the account may not read it: correct the name, or grant SELECT on it.',
    );
  }
  return (rows as [string, string][]).map(([column, type]) => ({ name: column, type: typeOf(type) }));
}

/**
 * Engines whose rows do not change after they are inserted. Views are allowed too: the agent cannot check the tables
 * behind a view, so the operator must check them.
 */
const FINAL = /^(?:(?:Replicated|Shared)?MergeTree|Memory|Log|StripeLog|TinyLog|View)$/;
/** Engines in which later rows replace or cancel earlier ones. A query with FINAL leaves out the earlier ones. */
const REPLACED = /^(?:Replicated|Shared)?(?:Replacing|Collapsing|VersionedCollapsing|Coalescing)MergeTree$/;

/**
 * Throws if the agent could read rows that were replaced or canceled. `final` says whether the agent reads with FINAL.
 * If a Distributed table reads a table on other servers, the agent cannot see that table's engine. In this case, the
 * function checks only that the operator has set `final` to true or false.
 */
export async function requireFinalRows(
  server: Server,
  name: TableName,
  final: boolean | undefined,
): Promise<void> {
  const engine = await engineOf(server, name);
  if (engine === 'Distributed') {
    const shard = await shardEngine(server, name);
    if (shard !== undefined) return requireEngine(shard, final);
    if (final !== undefined) return;
    throw new Error(
      'events.source.final: the tables behind this Distributed table cannot be seen from here: set false if their engine is MergeTree, and true if rows are replaced later.',
    );
  }
  requireEngine(engine, final);
}

function requireEngine(engine: string, final: boolean | undefined): void {
  if (FINAL.test(engine) || (REPLACED.test(engine) && final === true)) return;
  if (REPLACED.test(engine)) {
    throw new Error(`events.source.final: rows of a ${engine} are replaced later: set it to true.`);
  }
  throw new Error(
    `events.source.table: a table of the engine ${engine} cannot be counted, since its rows change later: use a MergeTree.`,
  );
}

async function engineOf(server: Server, name: TableName): Promise<string> {
  const parameters = new Parameters();
  const sql = `SELECT engine FROM system.tables WHERE ${isTable(name, parameters, 'name')}`;
  const [row] = (await server.rows(sql, parameters, {})).rows;
  return (row?.[0] as string | undefined) ?? 'unknown';
}

/**
 * Returns the engine of the local table that a Distributed table reads, or undefined if that table is on other servers.
 */
async function shardEngine(server: Server, name: TableName): Promise<string | undefined> {
  const parameters = new Parameters();
  const sql = `SELECT engine_full FROM system.tables WHERE ${isTable(name, parameters, 'name')}`;
  const [row] = (await server.rows(sql, parameters, {})).rows;
  const [, database, table] = /^Distributed\('[^']*', '([^']*)', '([^']*)'/.exec(String(row?.[0])) ?? [];
  if (database === undefined || table === undefined) return undefined;
  const engine = await engineOf(server, { database, table });
  return engine === 'unknown' ? undefined : engine;
}
