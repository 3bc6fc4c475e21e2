/** Checks a duchy's database for inconsistent data and for overdue work, without changing anything. */
import { Secrets } from '@measurement-exchange/server';
import type pg from 'pg';
import { blobSecrets, readSecrets } from './computations.ts';
import { Database, type SealingQueryable, sql } from './db.ts';
import { requireNoOtherOwner } from './settings.ts';

export interface DuchyProblem {
  check: string;
  /** An `error` should never occur. A `warning` needs an operator's attention. */
  severity: 'error' | 'warning';
  rows: number;
  meaning: string;
  remedy: string;
  examples: string[];
}

/**
 * One check of the database. `statement` is a query that returns the affected rows, with an `example` column that
 * identifies each row.
 */
type Check = [check: string, meaning: string, remedy: string, statement: string];

const RESTORE = 'Restore a backup, and report this.';
const ERRORS: Check[] = [
  [
    'blobs lack bytes',
    'A stored upload or message is not whole.',
    RESTORE,
    `SELECT b.id AS example FROM blobs b LEFT JOIN blob_chunks c ON c.blob = b.id
     WHERE b.complete_time IS NOT NULL AND b.removed_time IS NULL
     GROUP BY b.id HAVING coalesce(sum(octet_length(c.data) - 28), 0) <> b.length`,
  ],
  [
    'incomplete blobs are in use',
    'An upload or message has an incomplete blob.',
    RESTORE,
    `SELECT b.id AS example FROM blobs b
     WHERE b.complete_time IS NULL AND (EXISTS (SELECT FROM uploads u WHERE u.blob = b.id)
       OR EXISTS (SELECT FROM messages m WHERE m.blob = b.id))`,
  ],
  [
    'rows of another computation',
    'An upload or message has a blob of another computation.',
    RESTORE,
    `SELECT b.id AS example FROM blobs b JOIN uploads u ON u.blob = b.id WHERE u.computation <> b.computation
     UNION ALL
     SELECT b.id FROM blobs b JOIN messages m ON m.blob = b.id WHERE m.computation <> b.computation`,
  ],
  [
    'removed computations are back',
    'A computation that was removed is there again, with other secrets than the first time.',
    RESTORE,
    'SELECT id AS example FROM removed_computations JOIN computations USING (id)',
  ],
  [
    'keys outlive their blobs',
    'A computation has ended and its blobs are removed, and the key that opens copies of them is still there.',
    'Check that a process without --only mill runs: it removes the key.',
    `SELECT id AS example FROM computations c WHERE outcome IS NOT NULL AND blob_key IS NOT NULL
       AND update_time < now() - interval '1 hour' AND NOT EXISTS (
         SELECT FROM blobs b WHERE b.computation = c.id AND b.complete_time IS NOT NULL AND b.removed_time IS NULL)`,
  ],
];
const WARNINGS: Check[] = [
  [
    'chunks of ended computations',
    'A computation ended an hour ago without a key for its blobs, and some of their bytes are still there.',
    'Check that a process without --only mill runs: it removes them.',
    `SELECT c.id AS example FROM computations c JOIN blobs b ON b.computation = c.id
     WHERE c.outcome IS NOT NULL AND c.blob_key IS NULL AND c.update_time < now() - interval '1 hour'
       AND b.complete_time IS NOT NULL AND b.removed_time IS NULL`,
  ],
  [
    'stages nobody takes',
    'Stages have been due for minutes, and no mill has taken them.',
    'Check that a process with mills runs (mex duchy run, without --only face), and its log.',
    `SELECT id AS example FROM computations
     WHERE run_after < now() - interval '5 minutes' AND (lease_until IS NULL OR lease_until < now() - interval '5 minutes')`,
  ],
  [
    'stages that fail',
    'Stages have failed several times.',
    'The log says why. A computation fails after ten attempts.',
    `SELECT id || ' (' || coalesce(last_error, '') || ')' AS example FROM computations
     WHERE attempt >= 3 AND outcome IS NULL`,
  ],
  [
    'uploads not reported',
    'Uploads are stored, and the exchange does not know of them.',
    'Check that a process with a herald runs, and that it reaches the exchange.',
    `SELECT u.requisition AS example FROM uploads u JOIN computations c ON c.id = u.computation
     WHERE u.reported_time IS NULL AND c.outcome IS NULL AND u.create_time < now() - interval '10 minutes'`,
  ],
  [
    'blobs left over',
    'Incomplete blobs are more than a day old.',
    'Check that a process without --only mill runs: it removes them.',
    `SELECT id AS example FROM blobs WHERE complete_time IS NULL AND create_time < now() - interval '27 hours'`,
  ],
];

const CHECKS = [...ERRORS.map(checkOf('error')), ...WARNINGS.map(checkOf('warning'))];

function checkOf(severity: DuchyProblem['severity']) {
  return ([check, meaning, remedy, text]: Check) => {
    return { check, severity, meaning, remedy, statement: sql(`doctor ${check}`, text) };
  };
}

const IDS = sql('doctor secrets', 'SELECT id FROM computations WHERE outcome IS NULL ORDER BY create_time');
const SEALED = {
  check: 'secrets do not open',
  severity: 'error',
  meaning: 'The secrets of a pending computation do not open with the secrets key.',
  remedy: 'Give the secrets key that this database was used with.',
} as const;

export const DUCHY_CHECKS = CHECKS.length + 1;

export class DatabaseUnused extends Error {
  override readonly name = 'DatabaseUnused';
}

/**
 * Checks the database over a separate connection. Throws if the database belongs to another duchy, was encrypted with
 * another secrets key, or has not been used yet.
 */
export async function examineDuchy(
  connection: pg.ClientConfig,
  { duchy, secretsKey }: { duchy: string; secretsKey: Uint8Array },
): Promise<DuchyProblem[]> {
  const secrets = new Secrets(secretsKey);
  const db = new Database({ connection, secrets, applicationName: 'mex duchy check', maxConnections: 1 });
  try {
    await requireNoOtherOwner(db, duchy);
    return await duchyDoctor(db);
  } catch (error) {
    const isNew = (error as { code?: string }).code === '42P01'; // 42P01 means that a table does not exist.
    throw isNew
      ? new DatabaseUnused('No duchy has used this database yet: mex duchy run makes its tables.')
      : error;
  } finally {
    await db.close();
  }
}

async function duchyDoctor(db: SealingQueryable): Promise<DuchyProblem[]> {
  const found: DuchyProblem[] = [];
  for (const { statement, ...about } of CHECKS) {
    const examples = (await db.query(statement, [])).map(({ example }) => String(example));
    found.push(problem(about, examples));
  }
  found.push(problem(SEALED, await sealedForever(db)));
  return found.filter(({ rows }) => rows > 0);
}

async function sealedForever(db: SealingQueryable): Promise<string[]> {
  const ids: string[] = [];
  for (const { id } of await db.query(IDS, [])) {
    await readSecrets(db, id)
      .then(() => blobSecrets(db, id, 'read'))
      .catch(() => ids.push(id));
  }
  return ids;
}

function problem(about: Omit<DuchyProblem, 'rows' | 'examples'>, examples: string[]): DuchyProblem {
  return { ...about, rows: examples.length, examples: examples.slice(0, 10) };
}
