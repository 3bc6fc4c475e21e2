/** Registers the exchange's SQL statements and configures its database sessions. */
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

/**
 * `sql` and `lookup` register statements in `statements`. A test checks the query plan of every registered statement.
 */
export const { all: statements, sql, lookup } = new Statements();

/**
 * Formats strings as SQL literals. PostgreSQL uses a partial index only if the query's condition has constants instead
 * of parameters.
 */
export function literals(words: readonly string[]): string {
  return words.map((word) => pg.escapeLiteral(word)).join(', ');
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp);

/**
 * Converts `2026-11-15 02:04:57.12+00` to `2026-11-15T02:04:57.120000Z`. The offset is always zero, because sessions
 * use UTC.
 */
function readTimestamp(text: string): Timestamp {
  // Fast path: nearly all timestamps have six decimal places, and a page of 50 rows has 200 timestamps.
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
    // Plan each statement once. Statements find rows by key, so planning each execution anew would cost more time than
    // it saves.
    'plan_cache_mode=force_generic_plan',
    'jit=off',
    // Force index scans and nested loops. PostgreSQL does not know the value of `LIMIT $n` and assumes a tenth of the
    // table's rows. It would therefore read whole tables.
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
  ],
  types,
  maxConnections: 16,
  acquireMs: 2_000,
  // Keep idle connections: a new connection takes at least 10 ms and must prepare its statements again.
  idleMs: 600_000,
  deadlineMs: 8_000,
};

export class Database extends ServerDatabase {
  constructor(options: DatabaseOptions) {
    super(options, SESSION);
  }
}
