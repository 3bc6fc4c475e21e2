/** Opens the file of a ledger, locks it against a second agent, and creates or updates the schema. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const VERSION = 5;
/** SQLite's error code for a lock that another connection holds. */
const SQLITE_BUSY = 5;
/** How long a write waits for that of another process: a confirmation by the operator, while the agent runs. */
const BUSY_MS = 5000;

/**
 * The reference of what was charged before charges had one (schema 1, by resource name of an event group). It counts
 * against every reference, since any of them may have been behind that name.
 */
export const ANY_REFERENCE = '';

/**
 * `attempts` counts those that did not end: one that is under way, and those during which the process was killed.
 * `charges` refers to it, so that nothing is charged without.
 */
const ACCOUNTS = `
CREATE TABLE attempts (
  requisition TEXT PRIMARY KEY,
  count       INTEGER NOT NULL CHECK (count >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE charges (
  requisition TEXT NOT NULL REFERENCES attempts,
  reference   TEXT NOT NULL,
  day         TEXT NOT NULL,
  epsilon     INTEGER NOT NULL CHECK (epsilon >= 0),
  delta       INTEGER NOT NULL CHECK (delta >= 0),
  rho         INTEGER NOT NULL CHECK (rho >= 0),
  PRIMARY KEY (requisition, reference, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE totals (
  reference TEXT NOT NULL,
  day       TEXT NOT NULL,
  epsilon   INTEGER NOT NULL,
  delta     INTEGER NOT NULL,
  rho       INTEGER NOT NULL,
  PRIMARY KEY (reference, day)
) STRICT, WITHOUT ROWID;
`;

/**
 * A result (`ciphertext`), an upload to a duchy (`fulfillment`, the signed part of it; its octets are in a file), or a
 * refusal (`justification`).
 */
const RESPONSES = `
CREATE TABLE responses (
  requisition   TEXT PRIMARY KEY,
  responded_at  TEXT NOT NULL,
  certificate   TEXT,
  nonce         TEXT,
  type_url      TEXT,
  ciphertext    BLOB,
  duchy         TEXT,
  fulfillment   TEXT,
  justification TEXT,
  message       TEXT,
  CHECK ((ciphertext IS NOT NULL) + (fulfillment IS NOT NULL) + (justification IS NOT NULL) = 1),
  CHECK (ciphertext IS NULL OR (certificate IS NOT NULL AND nonce IS NOT NULL AND type_url IS NOT NULL)),
  CHECK (fulfillment IS NULL OR duchy IS NOT NULL)
) STRICT, WITHOUT ROWID;
`;

/** Rejections of uploads that their duchies have not stored yet; removed with the share. */
const REJECTIONS = `
CREATE TABLE rejections (
  requisition TEXT PRIMARY KEY REFERENCES responses,
  count       INTEGER NOT NULL CHECK (count > 0),
  counted_at  TEXT NOT NULL,
  why         TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** The references that the operator confirmed, and the questions that wait for that. */
const INVENTORY = `
CREATE TABLE confirmed_references (
  reference    TEXT PRIMARY KEY,
  confirmed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE held (
  requisition          TEXT PRIMARY KEY,
  measurement_consumer TEXT NOT NULL,
  reference_list       TEXT NOT NULL,
  since                TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * `responses` has the response to each requisition. `totals` caches the sums of `charges`, so that checking a budget
 * does not read a year of them. Amounts are integer units (amounts.ts) and only grow; none of these is deleted.
 */
const SCHEMA = `
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
${RESPONSES}${ACCOUNTS}${REJECTIONS}${INVENTORY}`;

/** From schema 1: every charge counts against ANY_REFERENCE from now on. */
const FROM_1 = `
ALTER TABLE answers RENAME TO responses;
ALTER TABLE responses RENAME COLUMN answered_at TO responded_at;
ALTER TABLE charges RENAME TO charges_1;
ALTER TABLE totals RENAME TO totals_1;
${ACCOUNTS}
INSERT INTO attempts SELECT requisition, 1 FROM responses WHERE justification IS NULL;
INSERT INTO charges
  SELECT requisition, '${ANY_REFERENCE}', day, sum(epsilon), sum(delta), sum(rho) FROM charges_1
  GROUP BY requisition, day;
INSERT INTO totals
  SELECT '${ANY_REFERENCE}', day, sum(epsilon), sum(delta), sum(rho) FROM totals_1 GROUP BY day;
DROP TABLE charges_1;
DROP TABLE totals_1;
`;

/** From schema 2, which had no uploads. */
const FROM_2 = `
ALTER TABLE responses RENAME TO responses_2;
${RESPONSES}
INSERT INTO responses (requisition, responded_at, certificate, nonce, type_url, ciphertext, justification, message)
  SELECT requisition, responded_at, certificate, nonce, type_url, ciphertext, justification, message
  FROM responses_2;
DROP TABLE responses_2;
`;

/** An open ledger; its lock is held until it is closed or the process ends. */
export interface OpenFile {
  database: DatabaseSync;
  close(): void;
}

export function openLedgerFile(path: string): OpenFile {
  const lock = takeLock(path);
  try {
    createPrivate(path);
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: BUSY_MS });
    try {
      // FULL: a commit is on disk before the result is sent.
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      migrate(database, path);
    } catch (error) {
      database.close();
      throw error;
    }
    return {
      database,
      close: () => {
        database.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Opens a ledger for reading, also while an agent uses it. */
export function openLedgerForReading(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  requireKnown(database, path);
  return database;
}

/** Opens a ledger for one write by somebody else than its agent, also while that uses it; creates it where it is new. */
export function openLedgerBeside(path: string): DatabaseSync {
  // Only a new or earlier file is locked, for the moment in which it is created or updated.
  if (!existsSync(path) || needsUpdate(path)) openLedgerFile(path).close();
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  requireKnown(database, path);
  return database;
}

function needsUpdate(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return versionOf(database) < VERSION;
  } finally {
    database.close();
  }
}

/**
 * Locks through an exclusive transaction on a separate database: the operating system releases it when the process
 * ends, also by kill -9, and readers of the ledger are not blocked.
 */
function takeLock(path: string): DatabaseSync {
  const file = `${path}.lock`;
  createPrivate(file);
  const lock = new DatabaseSync(file);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new Error(
      `Another agent works on ${path}. One agent has a ledger: stop the other one, or give this one a file of its own.`,
    );
  }
}

/**
 * Creates the file with mode 0600, which SQLite then uses for its files beside it. An existing file is not opened
 * here, since closing it would release the locks that SQLite holds on it in this process (fcntl(2)).
 */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new Error(`The ledger ${path} cannot be written (${code}): give a file in a folder that exists.`);
  }
}

function migrate(database: DatabaseSync, path: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database);
    if (version === 0) database.exec(SCHEMA);
    if (version === 1) database.exec(FROM_1);
    if (version === 1 || version === 2) database.exec(FROM_2);
    if (version > 0 && version < 4) database.exec(REJECTIONS);
    if (version > 0 && version < 5) database.exec(INVENTORY);
    if (version < VERSION) database.exec(`PRAGMA user_version = ${VERSION}`);
    requireKnown(database, path);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function requireKnown(database: DatabaseSync, path: string): void {
  const version = versionOf(database);
  if (version === VERSION) return;
  if (version < VERSION) {
    throw new Error(`The ledger ${path} is of an earlier version: start its agent once, which updates it.`);
  }
  throw new Error(
    `The ledger ${path} has schema ${version}, and this version knows ${VERSION} only: use the version that wrote it, or a newer one.`,
  );
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()!.user_version);
}
