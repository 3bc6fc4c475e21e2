/** Reads or creates the key that encrypts a duchy's stored data. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fromBase64, toBase64 } from '@measurement-exchange/contract';
import { SECRETS_KEY_BYTES } from '@measurement-exchange/server';
import { type DuchyConfig, DuchyConfigError } from './config.ts';

const REMEDY = 'Make one, and keep a copy apart from the database: openssl rand -base64 32';

export async function readSecretsKey({ mode, secretsKeyFile: path }: DuchyConfig): Promise<Uint8Array> {
  if (mode === 'development') await makeSecretsKey(path);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new DuchyConfigError([`secretsKeyFile ${path} cannot be read (${error.code}). ${REMEDY}`]);
  });
  const key = fromBase64(text.trim());
  if (key?.length !== SECRETS_KEY_BYTES || key.every((byte) => byte === key[0])) {
    throw new DuchyConfigError([
      `secretsKeyFile ${path} must hold ${SECRETS_KEY_BYTES} random bytes in base64. ${REMEDY}`,
    ]);
  }
  return key;
}

export async function makeSecretsKey(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const key = `${toBase64(randomBytes(SECRETS_KEY_BYTES))}\n`;
  await writeFile(path, key, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
