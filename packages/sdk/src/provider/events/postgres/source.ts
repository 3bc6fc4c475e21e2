/** Events in a PostgreSQL table. */
import { attributeTypes, type RoleNames } from '../columns.ts';
import { EventsUnavailable } from '../errors.ts';
import type { EventSource, Watch } from '../source.ts';
import { resolveColumns } from './columns.ts';
import { connectOf, type PostgresSource, tableName } from './connection.ts';
import { overviewOf, referencesOf, vidsOf } from './inventory.ts';
import { readerOf } from './reader.ts';
import { selfTest } from './selfTest.ts';
import { inSession, type Session } from './session.ts';
import type { Table } from './statement.ts';
import type { TableColumn } from './types.ts';

const TIMEOUT_SECONDS = 600;
/** The server's time limit exceeds the agent's by this much, so that the agent stops a query first and reports why. */
const SPARE_SECONDS = 5;

/** Opens a table, and checks its columns, the server, and the privileges of the account. */
export async function openPostgres(config: PostgresSource, names: RoleNames): Promise<EventSource> {
  const connect = connectOf(config);
  const name = tableName(config.table);
  const timeoutMs = Math.ceil(((config.timeoutSeconds ?? TIMEOUT_SECONDS) + SPARE_SECONDS) * 1000);
  const options = { connect, timeoutMs, canCheckClient: false };
  const columns = await inSession(options, [], async (session) => {
    const [[version]] = (await session.rows('SELECT version()')) as [[string]];
    // Turn on the check for lost connections only if the server runs on Linux. Older versions of PostgreSQL do not
    // support this check on other systems.
    options.canCheckClient = /linux/i.test(version);
    const found = await columnsOf(session, name);
    await selfTest(session, name);
    return resolveColumns(names, found);
  });
  return sourceOf({ name, columns }, (watch, closing, work) =>
    inSession(options, [watch.signal, closing], work),
  );
}

type Run = <T>(watch: Watch, closing: AbortSignal, work: (session: Session) => Promise<T>) => Promise<T>;

function sourceOf(table: Table, run: Run): EventSource {
  const { name, columns } = table;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const use = async <T>(watch: Watch, work: (session: Session) => Promise<T>): Promise<T> => {
    closing.signal.throwIfAborted();
    const job = run(watch, closing.signal, work);
    running.add(job);
    return job.finally(() => running.delete(job));
  };
  return {
    dialect: 'postgres',
    columns: columns.roles,
    attributes: attributeTypes(columns.attributes),
    canHold: columns.canHold,
    read: (watch, work) => use(watch, (session) => work(readerOf(session, table))),
    references: (limit, watch) => use(watch, (session) => referencesOf(session, table, limit)),
    overview: (watch) => use(watch, (session) => overviewOf(session, table)),
    countVids: (vid, population, watch) => use(watch, (session) => vidsOf(session, table, vid, population)),
    selfTest: (watch) => use(watch, (session) => selfTest(session, name)),
    async close() {
      closing.abort(new EventsUnavailable('The events were closed.'));
      await Promise.allSettled(running);
    },
  };
}

/** Lists the columns that the account may read. */
async function columnsOf(session: Session, table: string): Promise<TableColumn[]> {
  const rows = await session.rows(
    `SELECT a.attname, format_type(coalesce(b.oid, t.oid), CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
       coalesce(b.typname, t.typname), coalesce(b.typtype, t.typtype) = 'e', a.attnotnull OR t.typnotnull,
       coalesce(c.collisdeterministic, true)
     FROM pg_attribute AS a
       JOIN pg_type AS t ON t.oid = a.atttypid
       LEFT JOIN pg_type AS b ON b.oid = t.typbasetype
       LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
     WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
       AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
     ORDER BY a.attnum`,
    [table],
  );
  if (rows.length === 0) {
    throw new EventsUnavailable(
      `events.source.table: there is no ${table} that the account may read: create it, or grant SELECT on it and USAGE on its schema.`,
    );
  }
  return rows.map(([name, type, base, isEnum, notNull, deterministic]) => ({
    name: name!,
    type: type!,
    base: base!,
    isEnum: isEnum === 't',
    nullable: notNull !== 't',
    isDeterministic: deterministic === 't',
  }));
}
