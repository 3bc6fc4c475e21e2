/** A connection pool for a duchy's database, with its session settings and the key that encrypts stored secrets. */
import type { Secrets } from '@measurement-exchange/server';
import {
  type Queryable,
  type Row,
  Database as ServerDatabase,
  type DatabaseOptions as ServerOptions,
  type SessionOptions,
  Statements,
} from '@measurement-exchange/server/database';
import pg from 'pg';

export type { Queryable, Row, Statement } from '@measurement-exchange/server/database';

export const { sql } = new Statements();

export interface SealingQueryable extends Queryable {
  readonly secrets: Secrets;
}

export interface DatabaseOptions extends ServerOptions {
  secrets: Secrets;
}

export function camelCase<T>(row: Row): T {
  const memberOf = (column: string) => column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [memberOf(column), value])) as T;
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.NUMERIC, BigInt);
// Keep JSON as text, because JSON.parse would round 64-bit integers.
types.setTypeParser(pg.types.builtins.JSONB, (text) => text);

const SESSION: SessionOptions = {
  settings: [
    'statement_timeout=10000',
    'lock_timeout=3000',
    'idle_in_transaction_session_timeout=15000',
    'TimeZone=UTC',
    'jit=off',
  ],
  types,
  maxConnections: 10,
  acquireMs: 5_000,
  idleMs: 10_000,
  deadlineMs: 15_000,
};

export class Database extends ServerDatabase implements SealingQueryable {
  readonly secrets: Secrets;

  constructor({ secrets, ...options }: DatabaseOptions) {
    super(options, SESSION);
    this.secrets = secrets;
  }
}
