/** The database of the exchange: its statements, and the settings of its sessions. */
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

/** Every statement of the exchange; tests look at the plan of each. */
export const { all: statements, sql, lookup } = new Statements();

/** Constants as a list of SQL literals: partial indexes are found by constants, not by parameters. */
export function literals(words: readonly string[]): string {
  return words.map((word) => pg.escapeLiteral(word)).join(', ');
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp);

/** `2026-11-15 02:04:57.12+00` to the canonical form; sessions run in UTC. */
function readTimestamp(text: string): Timestamp {
  // With all six digits, as nearly all are: a page of fifty holds two hundred of them.
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
    // One-row lookups by key: planning a list statement afresh costs more than it could gain.
    'plan_cache_mode=force_generic_plan',
    'jit=off',
    // Every row is found by a key. The planner cannot know LIMIT $n, takes it for a tenth of the table, and would
    // read all of a table to join a page to it.
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
  ],
  types,
  maxConnections: 16,
  acquireMs: 2_000,
  // A connection costs more than a request does: ten milliseconds and more, and its prepared statements are gone.
  idleMs: 600_000,
  deadlineMs: 8_000,
};

export class Database extends ServerDatabase {
  constructor(options: DatabaseOptions) {
    super(options, SESSION);
  }
}
