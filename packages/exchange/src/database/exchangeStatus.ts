/** Reads the latest migration, and counts the measurements of all consumers. Each count stops at a limit. */
import {
  MAX_COUNT,
  PENDING_MEASUREMENT_STATES,
  TERMINAL_MEASUREMENT_STATES,
  type Timestamp,
} from '@measurement-exchange/contract';
import { literals, sql } from './db.ts';
import { read } from './run.ts';

export const lastMigration = read.one(
  () => [],
  sql<{ migration: number; name: string; applyTime: Timestamp }>(
    'migration_last',
    `SELECT version AS migration, name, applied_at AS "applyTime" FROM schema_migrations ORDER BY version DESC LIMIT 1`,
  ),
);

export interface MeasurementCount {
  state: string;
  count: number;
  /** The number of measurements in this state that failed because a provider refused a requisition. */
  refused: number;
}

/** Generates SQL that counts at most `$1` rows by state. summaries.ts explains why the limit is a parameter. */
const counted = (found: string) => `SELECT state, count(*)::int AS count,
    (count(*) FILTER (WHERE failure_reason = 'REQUISITION_REFUSED'))::int AS refused
  FROM (SELECT state, failure_reason FROM measurements WHERE ${found} LIMIT $1::int) found GROUP BY state`;

export const countOpen = read.all(
  () => [MAX_COUNT + 1],
  sql<MeasurementCount>(
    'status_count_open',
    counted(`state IN (${literals(PENDING_MEASUREMENT_STATES)}) ORDER BY create_time`),
  ),
);

export const countEnded = read.all(
  (since: Timestamp) => [MAX_COUNT + 1, since],
  sql<MeasurementCount>(
    'status_count_ended',
    counted(
      `state IN (${literals(TERMINAL_MEASUREMENT_STATES)}) AND update_time >= $2 ORDER BY update_time DESC`,
    ),
  ),
);
