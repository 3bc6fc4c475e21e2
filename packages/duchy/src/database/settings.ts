import { type SealingQueryable, sql } from './db.ts';

const READ = sql('readSetting', 'SELECT value FROM settings WHERE key = $1');
const WRITE_ONCE = sql(
  'writeSettingOnce',
  'INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING',
);

const OWNER = 'owner';

/**
 * Makes this duchy the owner of a new database. Throws if another duchy owns the database, or if it was encrypted with
 * another secrets key.
 */
export async function requireOwnDatabase(db: SealingQueryable, duchy: string): Promise<void> {
  await db.query(WRITE_ONCE, [OWNER, db.secrets.seal(OWNER, Buffer.from(duchy)).toString('base64')]);
  await requireNoOtherOwner(db, duchy);
}

/** Throws if the database belongs to another duchy or was encrypted with another secrets key. Writes nothing. */
export async function requireNoOtherOwner(db: SealingQueryable, duchy: string): Promise<void> {
  const [row] = await db.query(READ, [OWNER]);
  const owner = row && ownerIn(db, row.value);
  if (owner !== undefined && owner !== duchy)
    throw new Error(`The database belongs to ${owner}: give ${duchy} a database of its own.`);
}

function ownerIn(db: SealingQueryable, sealed: string): string {
  try {
    return db.secrets.open(OWNER, Buffer.from(sealed, 'base64')).toString();
  } catch {
    throw new Error('secretsKeyFile is not the key that this database was first used with: give that one.');
  }
}
