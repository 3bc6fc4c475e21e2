/** Stores API keys by their hash. */
import type { ApiKeyRecord } from '../domain/apiKey.ts';
import { type Cursor, pageRow, pageText } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, names, optional, parameters, select, table, values } from './table.ts';

const apiKeys = table<ApiKeyRecord>('api_keys', {
  consumer: column('consumer'),
  id: column('id'),
  displayName: column('display_name'),
  description: optional('description'),
  createTime: column('create_time', 'time'),
  expireTime: column('expire_time', 'time'),
});
const COLUMNS = select(apiKeys);
const apiKey = apiKeys.reader();

export const findApiKey = read.first(
  (keyHash: Uint8Array) => [keyHash],
  'api_key_find',
  `SELECT ${COLUMNS} FROM api_keys WHERE key_hash = $1`,
  apiKey,
);

export const insertApiKey = inTransaction.last(
  (record: ApiKeyRecord, keyHash: Uint8Array) => [keyHash, ...values(apiKeys.columns, record)],
  'api_key_insert',
  `INSERT INTO api_keys (key_hash, ${names(apiKeys.columns)}) VALUES ($1, ${parameters(apiKeys.columns, 2)})`,
);

export const deleteApiKey = inTransaction.first(
  (consumer: string, id: string) => [consumer, id],
  'api_key_delete',
  `DELETE FROM api_keys WHERE consumer = $1 AND id = $2 RETURNING ${COLUMNS}`,
  apiKey,
);

export const countApiKeys = read.number(
  (consumer: string) => [consumer],
  'api_key_count',
  'SELECT count(*)::int AS n FROM api_keys WHERE consumer = $1',
);

export const listApiKeys = read.page(
  (consumer: string, after: Cursor, limit: number) => [after.time, after.id, limit, consumer],
  'api_key_list',
  pageText(
    `SELECT ${COLUMNS} FROM api_keys WHERE consumer = $4 AND (create_time, id) > ($1::timestamptz, $2)`,
    'create_time, id',
  ),
  pageRow(apiKey),
);
