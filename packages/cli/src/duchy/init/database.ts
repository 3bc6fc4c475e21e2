import { loadDuchy } from '../settings.ts';

const DATABASE_MISSING = '3D000';

export async function createDatabaseOf(databaseUrl: string): Promise<void> {
  const url = URL.parse(databaseUrl);
  const name = decodeURIComponent(url?.pathname.slice(1) ?? '');
  if (url === null || name === '') {
    throw new Error('--database-url must name a database: postgres://user@host/database.');
  }
  const { ensureDatabase } = await loadDuchy();
  try {
    // Try to connect to the duchy's own database first, because some roles are not allowed to connect to any other
    // database.
    await ensureDatabase({ connectionString: databaseUrl }, name);
  } catch (error) {
    if ((error as { code?: string }).code !== DATABASE_MISSING) throw unusable(error as Error, url);
    url.pathname = '/postgres';
    await ensureDatabase({ connectionString: url.href }, name).catch((cause: Error) => {
      throw unusable(
        cause,
        url,
        ` Or create it yourself: CREATE DATABASE "${name}" OWNER "${url.username}".`,
      );
    });
  }
}

/** Returns an error whose message omits the URL, because the URL may contain a password. */
function unusable(cause: Error & { code?: string }, { host }: URL, remedy = ''): Error {
  const why = cause.message || cause.code;
  return new Error(
    `--database-url cannot be used: the server at ${host} says: ${why}. Nothing was made.${remedy}`,
    { cause },
  );
}
