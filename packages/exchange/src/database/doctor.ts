/** Looks through a live database for anything that the exchange promises will never be there. */
import pg from 'pg';
import { auditChecks } from './doctor/audit.ts';
import { certificateChecks } from './doctor/certificates.ts';
import { changeChecks } from './doctor/changes.ts';
import { type Check, type CheckInfo, type Found, MAX_EXAMPLES } from './doctor/check.ts';
import { computationChecks } from './doctor/computations.ts';
import { descriptorChecks } from './doctor/descriptors.ts';
import { eventGroupChecks } from './doctor/eventGroups.ts';
import { logChecks } from './doctor/logs.ts';
import { measurementChecks } from './doctor/measurements.ts';
import { populationChecks } from './doctor/populations.ts';
import { referenceChecks } from './doctor/references.ts';
import { rowChecks } from './doctor/rows.ts';
import { serverChecks } from './doctor/server.ts';
import { tombstoneChecks } from './doctor/tombstones.ts';
import { schemaState } from './migrate.ts';

/** A check that found something wrong. */
export interface DoctorFinding extends Omit<CheckInfo, 'id'> {
  /** The ID of the check. */
  check: string;
  /** How many rows are wrong. */
  rows: number;
  /** Up to five names of what is wrong. */
  examples: string[];
}

const PENDING: CheckInfo = {
  id: 'migration-pending',
  severity: 'error',
  meaning: 'The database lacks a migration of this version; no other check was made.',
  remedy: 'Run mex migrate, then the doctor again.',
};
const FOREIGN: CheckInfo = {
  id: 'migration-foreign',
  severity: 'error',
  meaning:
    'The database has a migration that this version does not know or has otherwise; no other check was made.',
  remedy: 'Run the version that migrated it, or restore a backup made before.',
};
const OF_THE_TABLES: Check[] = [
  ...measurementChecks,
  ...computationChecks,
  ...tombstoneChecks,
  ...certificateChecks,
  ...descriptorChecks,
  ...eventGroupChecks,
  ...populationChecks,
  ...logChecks,
  ...changeChecks,
  ...auditChecks,
  ...referenceChecks,
  ...rowChecks,
  ...serverChecks,
];

export const CHECKS: readonly Pick<CheckInfo, 'id' | 'meaning'>[] = [PENDING, FOREIGN, ...OF_THE_TABLES];

export interface DoctorOptions {
  connection: pg.ClientConfig;
  /** After each check. */
  onCheck?: (id: string, done: number, total: number) => void;
}

/** Whole tables are read: the 5 s of a request are not enough. */
const STATEMENT_MS = 5 * 60_000;

/** One snapshot for all checks: a change made meanwhile is seen by all of them or by none. It locks no row. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL work_mem = '64MB';
  -- Tables themselves are read: an index that lost a row would hide it.
  SET LOCAL enable_indexscan = off;
  SET LOCAL enable_indexonlyscan = off;
  SET LOCAL enable_bitmapscan = off;
  -- Without index scans a loop within a loop reads the whole table for each row, and a table that was not analyzed
  -- yet looks small enough for that.
  SET LOCAL enable_nestloop = off;`;

/** Runs all checks; returns nothing for a healthy database. */
export async function doctor({ connection, onCheck }: DoctorOptions): Promise<DoctorFinding[]> {
  const client = new pg.Client({
    ...connection,
    application_name: 'mex doctor',
    statement_timeout: STATEMENT_MS,
  });
  client.on('error', () => {}); // a broken connection also rejects the query under way
  await client.connect();
  try {
    await client.query(BEGIN);
    const ailments: DoctorFinding[] = [];
    let done = 0;
    const conclude = ({ id, severity, meaning, remedy }: CheckInfo, names: string[], rows = names.length) => {
      const examples = names.slice(0, MAX_EXAMPLES);
      if (rows > 0) ailments.push({ check: id, severity, rows, examples, meaning, remedy });
      onCheck?.(id, ++done, CHECKS.length);
    };

    const { pending, foreign } = await schemaState(client);
    conclude(
      PENDING,
      pending.map((migration) => migration.name),
    );
    conclude(FOREIGN, foreign);
    // The other checks are about the tables of this version.
    if (ailments.length > 0) return ailments;

    for (const check of OF_THE_TABLES) {
      const { names, rows } = await ask(client, check);
      conclude(check, names, rows);
    }
    return ailments;
  } finally {
    await client.end();
  }
}

async function ask(client: pg.Client, check: Check): Promise<Found> {
  try {
    return await check.find(client);
  } catch (error) {
    throw new Error(`The check ${check.id} could not be made: ${(error as Error).message}`, { cause: error });
  }
}
