/** Registers the exchange's SQL statements, and configures its database sessions. */
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

/** The registry of the exchange's SQL statements. Tests check the query plan of each statement. */
export const { all: statements, sql, lookup } = new Statements();

/**
 * Formats strings as a list of SQL literals, for conditions that must match a partial index. The planner uses such an index
 * only if the condition has constants instead of parameters.
 */
export function literals(words: readonly string[]): string {
  return words.map((word) => pg.escapeLiteral(word)).join(', ');
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp);

/**
 * Converts PostgreSQL's `2026-11-15 02:04:57.12+00` to `2026-11-15T02:04:57.120000Z`. The offset is always zero, because
 * sessions use UTC.
 */
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
    // Plan each statement only once. Statements find rows by key, so planning every execution would take longer than a
    // better plan could save.
    'plan_cache_mode=force_generic_plan',
    'jit=off',
    // Force index scans and nested loops. The planner does not know the value of `LIMIT $n` and assumes a tenth of the
    // table, so it would otherwise read whole tables.
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
  ],
  types,
  maxConnections: 16,
  acquireMs: 2_000,
  // Keep idle connections. Opening a connection takes at least 10 ms, and its statements must then be prepared again.
  idleMs: 600_000,
  deadlineMs: 8_000,
};

export class Database extends ServerDatabase {
  constructor(options: DatabaseOptions) {
    super(options, SESSION);
  }
}
