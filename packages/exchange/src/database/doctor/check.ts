import type pg from 'pg';
import { sql } from '../db.ts';

/** One query about the database: each row it returns names something that is wrong. */
export interface Check extends CheckInfo {
  find(client: pg.ClientBase): Promise<Found>;
}

export interface CheckInfo {
  /** Stable: scripts may rely on it. */
  id: string;
  /** A warning is about the server; the stored data is correct. */
  severity: 'error' | 'warning';
  /** The problem, in one sentence. */
  meaning: string;
  /** The remedy. */
  remedy: string;
}

export interface Found {
  /** The first rows, by name. */
  names: string[];
  rows: number;
}

export const MAX_EXAMPLES = 5;

interface CheckByQuery extends Omit<CheckInfo, 'id' | 'severity' | 'remedy'> {
  /** An error by default. */
  severity?: Check['severity'];
  /** To restore the rows by default. */
  remedy?: string;
  /** A statement with one column, name. */
  names: string;
  values?: unknown[];
}

/** The checks that a query can make, by ID. */
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

/** The remedy for rows that the exchange cannot have written: no operation mends them. */
export const RESTORE =
  'The exchange writes no such rows, so they were changed past it or damaged: find out what did it, and ' +
  'restore them from a backup.';

/** The names of resources, by the usual aliases of their tables. */
export const NAME = {
  certificate: `c.party || '/certificates/' || c.id`,
  /** The tombstone of a measurement has the same name, and so does that of a requisition. */
  measurement: `m.consumer || '/measurements/' || m.id`,
  requisition: `r.provider || '/requisitions/' || r.id`,
  computation: `c.duchy || '/computations/' || c.id`,
  descriptor: `d.provider || '/eventGroupMetadataDescriptors/' || d.id`,
  eventGroup: `e.provider || '/eventGroups/' || e.id`,
  population: `'populations/' || o.id`,
  principal: `'principals/' || p.id`,
  trustedRoot: `'trustedRoots/' || t.id`,
};

/** Joins queries into one that returns the rows of all of them. */
export function unionAll(...queries: string[]): string {
  return queries.join(' UNION ALL ');
}
