/** Checks a live database for rows and settings that violate the exchange's guarantees. */
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
import { reportChecks } from './doctor/reports.ts';
import { rowChecks } from './doctor/rows.ts';
import { serverChecks } from './doctor/server.ts';
import { tombstoneChecks } from './doctor/tombstones.ts';
import { schemaState } from './migrate.ts';

export interface DoctorFinding extends Omit<CheckInfo, 'id'> {
  check: string;
  rows: number;
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
    'The database has a migration that this version does not have, or has in another form; no other check was made.',
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
  ...reportChecks,
  ...logChecks,
  ...changeChecks,
  ...auditChecks,
  ...referenceChecks,
  ...rowChecks,
  ...serverChecks,
];

export const CHECKS: readonly Pick<CheckInfo, 'id' | 'meaning'>[] = [PENDING, FOREIGN, ...OF_THE_TABLES];

interface DoctorOptions {
  connection: pg.ClientConfig;
  onCheck?: (id: string, done: number, total: number) => void;
  /** An abort closes the database connection, so that the promise of `doctor` rejects. */
  signal?: AbortSignal;
}

/** The time limit of one statement. The 5 s limit of requests would be too short, because checks read whole tables. */
const STATEMENT_MS = 5 * 60_000;

/** All checks read one snapshot, so concurrent changes do not affect them. The transaction locks no rows. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL work_mem = '64MB';
  -- Checks read tables without their indexes: an index that lost a row would hide it.
  SET LOCAL enable_indexscan = off;
  SET LOCAL enable_indexonlyscan = off;
  SET LOCAL enable_bitmapscan = off;
  -- Without index scans a nested loop reads a whole table for each row, and the planner would choose one for a table
  -- that was never analyzed.
  SET LOCAL enable_nestloop = off;`;

export async function doctor({ connection, onCheck, signal }: DoctorOptions): Promise<DoctorFinding[]> {
  const client = new pg.Client({
    ...connection,
    application_name: 'mex doctor',
    statement_timeout: STATEMENT_MS,
  });
  client.on('error', () => {}); // Ignore connection errors here, because the running query also rejects.
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const abort = () => stream.destroy();
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    await client.query(BEGIN);
    const findings: DoctorFinding[] = [];
    let done = 0;
    const conclude = ({ id, severity, meaning, remedy }: CheckInfo, names: string[], rows = names.length) => {
      const examples = names.slice(0, MAX_EXAMPLES);
      if (rows > 0) findings.push({ check: id, severity, rows, examples, meaning, remedy });
      onCheck?.(id, ++done, CHECKS.length);
    };

    const { pending, foreign } = await schemaState(client);
    conclude(
      PENDING,
      pending.map((migration) => migration.name),
    );
    conclude(FOREIGN, foreign);
    // Stop if migrations are missing or unknown, because the remaining checks assume the current schema.
    if (findings.length > 0) return findings;

    for (const check of OF_THE_TABLES) {
      const { names, rows } = await ask(client, check);
      conclude(check, names, rows);
    }
    return findings;
  } finally {
    signal?.removeEventListener('abort', abort);
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
