import { type Queryable, sql } from './db.ts';

const FACTS = sql(
  'durability',
  `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
     current_setting('synchronous_commit') AS commit, pg_is_in_recovery() AS standby`,
);

/** What could lose an upload that was acknowledged. */
export async function durabilityProblems(db: Queryable): Promise<string[]> {
  const [{ fsync, pages, commit, standby }] = (await db.query(FACTS, [])) as [Record<string, unknown>];
  const problems: string[] = [];
  if (standby) problems.push('The database is a standby. Point databaseUrl at the primary.');
  if (fsync !== 'on') problems.push('fsync is off: a crash would destroy the database. Set fsync = on.');
  if (pages !== 'on') problems.push('full_page_writes is off: a crash could tear pages. Set it on.');
  if (!['on', 'remote_write', 'remote_apply'].includes(String(commit))) {
    problems.push(`synchronous_commit is ${commit}: an acknowledged upload could be lost. Set it on.`);
  }
  return problems;
}
