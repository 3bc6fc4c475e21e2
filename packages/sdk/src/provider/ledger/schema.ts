/** Opens a ledger's file, locks it against a second agent, and creates or updates the schema. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { FROM_1, FROM_2, FROM_6, INVENTORY, QUESTIONS, REJECTIONS, SCHEMA } from './tables.ts';

const VERSION = 7;
/** SQLite's error code for a lock that another connection holds. */
const SQLITE_BUSY = 5;
/** SQLite's codes for a file that it cannot read, that is damaged, or that is not a database. */
const SQLITE_FAULTS = [10, 11, 14, 26];
/** How long a write waits for another write. The agent and an operator's command may write at the same time. */
const BUSY_MS = 5000;

/** An open ledger, locked until `close` is called or the process ends. */
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
      // FULL ensures that a commit is on disk before the response is sent.
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      migrate(database, path);
    } catch (error) {
      database.close();
      throw describeFault(error, path);
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

export function openLedgerForReading(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    requireKnown(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw describeFault(error, path);
  }
}

/**
 * Adds the file's path to an error about a damaged file or a file that is not a ledger, because SQLite's message omits
 * the path.
 */
function describeFault(error: unknown, path: string): unknown {
  const { errcode, message } = error as Error & { errcode?: number };
  // The low byte of `errcode` is the primary code. The other bytes contain details.
  if (errcode === undefined || !SQLITE_FAULTS.includes(errcode & 0xff)) return error;
  return new Error(
    `${path} is not a ledger, or is damaged (${message}): give the file that the agent created.`,
  );
}

/**
 * Opens a ledger so that the operator can write to it, even while an agent is using it. Creates the ledger if it does
 * not exist.
 */
export function openLedgerBeside(path: string): DatabaseSync {
  try {
    // Creating a ledger or updating its schema needs the lock. Writing to an up-to-date ledger does not.
    if (!existsSync(path) || needsUpdate(path)) openLedgerFile(path).close();
    const database = new DatabaseSync(path, { timeout: BUSY_MS });
    requireKnown(database, path);
    return database;
  } catch (error) {
    throw describeFault(error, path);
  }
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
 * Locks the ledger with an exclusive transaction on a separate database, so that readers of the ledger are not blocked.
 * The operating system releases the lock when the process ends, even after `kill -9`.
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
      `Another agent works on ${path}. Only one agent may use a ledger: stop the other agent, or use a separate file.`,
    );
  }
}

/**
 * Creates the file with mode 0600, unless it exists. SQLite uses the same mode for the files that it creates beside
 * this file. An existing file is not opened, because closing it would release the locks that SQLite holds on it in this
 * process (see fcntl(2)).
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
    if (version > 0 && version < 6) database.exec(QUESTIONS);
    if (version > 1 && version < 7) database.exec(FROM_6);
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
