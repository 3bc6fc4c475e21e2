/**
 * Maps the names of SQL dialects to their implementations. The process that evaluates filters loads this file, so the
 * dialects must not import an engine's client.
 */
import { clickhouse } from '../events/clickhouse/dialect.ts';
import { duckdb } from '../events/duckdb/dialect.ts';
import { postgres } from '../events/postgres/dialect.ts';
import type { Dialect, DialectName } from './dialect.ts';

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { clickhouse, duckdb, postgres };
