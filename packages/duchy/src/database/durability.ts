import { type Queryable, sql } from './db.ts';

const FACTS = sql(
  'durability',
  `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
     current_setting('synchronous_commit') AS commit, pg_is_in_recovery() AS standby,
     current_setting('server_encoding') AS encoding, current_setting('server_version_num')::integer / 10000 AS major`,
);

/** The oldest and newest PostgreSQL versions that the tests run on. */
const [OLDEST_VERSION, NEWEST_VERSION] = [15, 18];

/**
 * Returns problems with the server, such as an untested version or a setting that could lose an acknowledged upload.
 */
export async function durabilityProblems(db: Queryable): Promise<string[]> {
  const [facts] = await db.query(FACTS, []);
  const { fsync, pages, commit, standby, encoding, major } = facts as Record<string, unknown>;
  const problems = [
    standby === true && 'The database is a standby. Point databaseUrl at the primary.',
    fsync !== 'on' && 'fsync is off: a crash would destroy the database. Set fsync = on.',
    pages !== 'on' && 'full_page_writes is off: a crash could tear pages. Set it on.',
    !['on', 'remote_write', 'remote_apply'].includes(String(commit)) &&
      `synchronous_commit is ${commit}: an acknowledged upload could be lost. Set it on.`,
    encoding !== 'UTF8' &&
      `The encoding of the database is ${encoding}. Create it anew with ENCODING 'UTF8' TEMPLATE template0.`,
    (Number(major) < OLDEST_VERSION || Number(major) > NEWEST_VERSION) &&
      `PostgreSQL ${major} is not tested. Use ${OLDEST_VERSION} to ${NEWEST_VERSION}.`,
  ];
  return problems.filter((problem) => problem !== false);
}
