/** An API key authenticates programs of a measurement consumer that send no ID token and no client certificate. */
import { hash } from 'node:crypto';
import { type ApiKeyInput, invalid, type Timestamp, timestampOf } from '@measurement-exchange/contract';

export interface ApiKeyRecord {
  /** A resource name such as `measurementConsumers/x`. */
  consumer: string;
  id: string;
  displayName: string;
  description: string | undefined;
  createTime: Timestamp;
  expireTime: Timestamp;
}

/** The number of random bytes in a key. With this many random bytes, nobody can find a key from its hash. */
export const API_KEY_BYTES = 32;
/** Tools that search files for secrets find keys by this prefix. */
const PREFIX = 'mex_';
const API_KEY = /^mex_[A-Za-z0-9_-]{43}$/;

/** The maximum number of API keys of a consumer, including expired keys. */
export const MAX_API_KEYS = 50;
const DAY_MS = 24 * 3600_000;
const DEFAULT_DAYS = 90;
const MAX_DAYS = 366;

export function newApiKey(consumer: string, id: string, input: ApiKeyInput, now: Timestamp): ApiKeyRecord {
  const after = (days: number) => timestampOf(Date.parse(now) + days * DAY_MS);
  const { displayName, description, expireTime = after(DEFAULT_DAYS) } = input;
  if (expireTime <= now || expireTime > after(MAX_DAYS)) {
    const description = expireTime <= now ? 'must be in the future' : 'must be within a year from now';
    throw invalid([{ field: 'expireTime', description }]);
  }
  return { consumer, id, displayName, description, createTime: now, expireTime };
}

export function apiKeyName(consumer: string, id: string): string {
  return `${consumer}/apiKeys/${id}`;
}

export function printApiKey(random: Buffer): string {
  return `${PREFIX}${random.toString('base64url')}`;
}

/** Returns the hash under which the key is stored, or undefined if the text is not a key. */
export function apiKeyHash(text: string): Uint8Array | undefined {
  return API_KEY.test(text) ? hash('sha256', text, 'buffer') : undefined;
}
