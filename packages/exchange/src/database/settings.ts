import { type Queryable, sql } from './db.ts';

const GET = sql<{ value: string }>('setting_get', 'SELECT value FROM settings WHERE key = $1');
const PUT = sql(
  'setting_put_first',
  'INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING',
);

export async function putFirstSetting(
  db: Queryable,
  key: 'devPageTokenKey' | 'devSecretsKey',
  value: string,
): Promise<string> {
  await db.query(PUT, [key, value]);
  return (await db.query(GET, [key]))[0]!.value;
}
