/** Stores API keys by their hash. */
import type { ApiKeyRecord } from '../domain/apiKey.ts';
import { read } from './run.ts';
import { column, optional, select, table } from './table.ts';

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
