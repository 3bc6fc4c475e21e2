import { type Statement, sql } from '../db.ts';

/** One question to the database. Silence is health; each row of the answer names something that is wrong. */
export interface Check extends CheckInfo {
  statement: Statement;
  values: unknown[];
}

export interface CheckInfo {
  /** Stable: scripts may rely on it. */
  id: string;
  /** A warning is about the surroundings; everything stored still is as it should be. */
  severity: 'error' | 'warning';
  /** What is wrong, in one sentence. */
  meaning: string;
  /** What to do. */
  remedy: string;
}

export const MAX_EXAMPLES = 5;

/** `names` selects one column, name. */
export function check(info: Omit<CheckInfo, 'severity'>, names: string, values: unknown[] = []): Check {
  const statement = sql(
    info.id,
    `SELECT name COLLATE "C" AS name, sum(count(*)) OVER () AS rows FROM (${names}) AS wrong
      GROUP BY 1 ORDER BY 1 LIMIT ${MAX_EXAMPLES}`,
  );
  return { severity: 'error', ...info, statement, values };
}

export function warning(...about: Parameters<typeof check>): Check {
  return { ...check(...about), severity: 'warning' };
}

/** The exchange cannot have written it, so there is no operation that mends it. */
export const RESTORE =
  'The exchange writes no such rows, so they were changed past it or damaged: find out what did it, and ' +
  'restore them from a backup.';

export const MEASUREMENT_NAME = `m.consumer || '/measurements/' || m.id`;
export const REQUISITION_NAME = `r.provider || '/requisitions/' || r.id`;
export const DESCRIPTOR_NAME = `d.provider || '/eventGroupMetadataDescriptors/' || d.id`;
