import type pg from 'pg';
import { sql } from '../db.ts';

export interface Check extends CheckInfo {
  find(client: pg.ClientBase): Promise<Found>;
}

export interface CheckInfo {
  /** The ID of the check must never change, because scripts rely on it. */
  id: string;
  /** A warning means that the stored data is correct but something else needs attention. */
  severity: 'error' | 'warning';
  meaning: string;
  remedy: string;
}

export interface Found {
  names: string[];
  rows: number;
}

export const MAX_EXAMPLES = 5;

interface CheckByQuery extends Omit<CheckInfo, 'id' | 'severity' | 'remedy'> {
  /** `error` by default. */
  severity?: Check['severity'];
  /** `RESTORE` by default. */
  remedy?: string;
  /** A query that finds the rows that fail the check, and returns their names in one column, `name`. */
  names: string;
  values?: unknown[];
}

export function checks(byId: Record<string, CheckByQuery>): Check[] {
  return Object.entries(byId).map(
    ([id, { severity = 'error', meaning, remedy = RESTORE, names, values }]) => {
      const statement = sql(
        id,
        `SELECT name COLLATE "C" AS name, sum(count(*)) OVER () AS rows FROM (${names}) AS wrong
          GROUP BY 1 ORDER BY 1 LIMIT ${MAX_EXAMPLES}`,
      );
      const find = async (client: pg.ClientBase): Promise<Found> => {
        const { rows } = await client.query<{ name: string; rows: string }>({ ...statement, values });
        return { names: rows.map((row) => row.name), rows: Number(rows[0]?.rows ?? 0) };
      };
      return { id, severity, meaning, remedy, find };
    },
  );
}

export const RESTORE =
  'The exchange does not write such rows, so something else changed or damaged them: find out what did, and ' +
  'restore them from a backup.';

/** SQL expressions for resource names. Each expression expects a fixed table alias, such as `m` for measurements. */
export const NAME = {
  certificate: `c.party || '/certificates/' || c.id`,
  /**
   * The expressions for measurements and requisitions also work for tombstones, which keep the names of removed
   * resources.
   */
  measurement: `m.consumer || '/measurements/' || m.id`,
  requisition: `r.provider || '/requisitions/' || r.id`,
  report: `q.consumer || '/reports/' || q.id`,
  computation: `c.duchy || '/computations/' || c.id`,
  descriptor: `d.provider || '/eventGroupMetadataDescriptors/' || d.id`,
  eventGroup: `e.provider || '/eventGroups/' || e.id`,
  population: `'populations/' || o.id`,
  principal: `'principals/' || p.id`,
  apiKey: `k.consumer || '/apiKeys/' || k.id`,
  trustedRoot: `'trustedRoots/' || t.id`,
};

export function unionAll(...queries: string[]): string {
  return queries.join(' UNION ALL ');
}
