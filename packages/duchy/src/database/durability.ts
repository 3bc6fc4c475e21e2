import { type Queryable, sql } from './db.ts';

const FACTS = sql(
  'durability',
  `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
     current_setting('synchronous_commit') AS commit, pg_is_in_recovery() AS standby,
     current_setting('server_encoding') AS encoding, current_setting('server_version_num')::integer / 10000 AS major`,
);

/** The oldest and the newest version that the tests run on. */
const [OLDEST_VERSION, NEWEST_VERSION] = [15, 18];

/** Settings with which an acknowledged upload could be lost, and versions that are not tested. */
export async function durabilityProblems(db: Queryable): Promise<string[]> {
  const [{ fsync, pages, commit, standby, encoding, major }] = (await db.query(FACTS, [])) as [
    Record<string, unknown>,
  ];
  const problems: string[] = [];
  if (standby) problems.push('The database is a standby. Point databaseUrl at the primary.');
  if (fsync !== 'on') problems.push('fsync is off: a crash would destroy the database. Set fsync = on.');
  if (pages !== 'on') problems.push('full_page_writes is off: a crash could tear pages. Set it on.');
  if (!['on', 'remote_write', 'remote_apply'].includes(String(commit))) {
    problems.push(`synchronous_commit is ${commit}: an acknowledged upload could be lost. Set it on.`);
  }
  if (encoding !== 'UTF8') {
    problems.push(
      `The encoding of the database is ${encoding}. Create it anew with ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  if (Number(major) < OLDEST_VERSION || Number(major) > NEWEST_VERSION) {
    problems.push(`PostgreSQL ${major} is not tested. Use ${OLDEST_VERSION} to ${NEWEST_VERSION}.`);
  }
  return problems;
}
