/** The exchange's SQL statements, and the settings of its database sessions. */
import type { Timestamp } from '@measurement-exchange/contract';
import {
  type DatabaseOptions,
  Database as ServerDatabase,
  type SessionOptions,
  Statements,
} from '@measurement-exchange/server/database';
import pg from 'pg';

export {
  type Queryable,
  type Row,
  type Statement,
  sqlState,
  type Transaction,
  uniqueViolation,
} from '@measurement-exchange/server/database';

/** Registers every SQL statement of the exchange. Tests check the query plan of each statement. */
export const { all: statements, sql, lookup } = new Statements();

/** Formats a list of SQL literals. The planner uses a partial index only if the condition has constants, not parameters. */
export function literals(words: readonly string[]): string {
  return words.map((word) => pg.escapeLiteral(word)).join(', ');
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp);

/** Converts `2026-11-15 02:04:57.12+00` to a Timestamp with six decimal places. Sessions run in UTC. */
function readTimestamp(text: string): Timestamp {
  // Fast path: nearly all timestamps have six decimal places, and a page of fifty rows has two hundred timestamps.
  if (text.length === 29 && text[10] === ' ') return `${text.slice(0, 10)}T${text.slice(11, 26)}Z`;
  const [seconds, fraction = ''] = text.slice(0, text.lastIndexOf('+')).split('.');
  return `${seconds!.replace(' ', 'T')}.${fraction.padEnd(6, '0')}Z`;
}

const SESSION: SessionOptions = {
  settings: [
    'statement_timeout=5000',
    'lock_timeout=2000',
    'idle_in_transaction_session_timeout=10000',
    'TimeZone=UTC',
    'DateStyle=ISO',
    // Statements find rows by key, so planning every execution separately would cost more than it could gain.
    'plan_cache_mode=force_generic_plan',
    'jit=off',
    // The planner does not know the value of LIMIT $n. It assumes a tenth of the table, and would read whole tables to join
    // them with a page.
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
  ],
  types,
  maxConnections: 16,
  acquireMs: 2_000,
  // Opening a connection takes at least ten milliseconds, and each new connection has to prepare its statements again.
  idleMs: 600_000,
  deadlineMs: 8_000,
};

export class Database extends ServerDatabase {
  constructor(options: DatabaseOptions) {
    super(options, SESSION);
  }
}
