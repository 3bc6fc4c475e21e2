/** What the database knows about itself. */
import { type Queryable, sql } from './db.ts';

const GET = sql<{ value: string }>('setting_get', 'SELECT value FROM settings WHERE key = $1');
const PUT = sql(
  'setting_put_first',
  'INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING',
);

/** `mode` is `development` on a database that ever served demo parties. */
export type SettingKey = 'mode' | 'devPageTokenKey';

export async function getSetting(db: Queryable, key: SettingKey): Promise<string | undefined> {
  return (await db.query(GET, [key]))[0]?.value;
}

/** The first value stays. */
export async function putFirstSetting(db: Queryable, key: SettingKey, value: string): Promise<string> {
  await db.query(PUT, [key, value]);
  return (await getSetting(db, key))!;
}
