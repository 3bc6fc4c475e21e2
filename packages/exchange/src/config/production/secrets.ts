/** Rejects secrets that are weak, published in this repository, or readable by other users. */
import { fromBase64 } from '@measurement-exchange/contract';
import { octal, type ProcessFacts } from './process.ts';

const KEY_BYTES = 32;
/** Keys that are published in this repository or often used in tests, in hex. */
const SHIPPED_KEYS = [
  Buffer.from('example-page-token-key-do-not-use').toString('hex'),
  // The bytes 0, 1, 2, … are a common test key.
  Buffer.from(Array.from({ length: KEY_BYTES }, (_, i) => i)).toString('hex'),
];

/**
 * Finds problems with a key, which must have at least 32 bytes and be hard to guess. If `size` is `exactly`, a longer
 * key is a problem too.
 */
export function keyProblems(
  setting: 'pageTokenKey' | 'secretsKey',
  key: string | undefined,
  size: 'at least' | 'exactly' = 'at least',
): string[] {
  const remedy = 'Make one, the same for every replica: openssl rand -base64 32';
  if (key === undefined || key === '') return [`${setting} is not set. ${remedy}`];
  const bytes = fromBase64(key);
  if (bytes === undefined) return [`${setting} is not base64. ${remedy}`];
  if (bytes.length < KEY_BYTES) {
    return [`${setting} has ${bytes.length} bytes, fewer than ${KEY_BYTES}. ${remedy}`];
  }
  if (size === 'exactly' && bytes.length > KEY_BYTES) {
    return [`${setting} has ${bytes.length} bytes, more than ${KEY_BYTES}. ${remedy}`];
  }
  if (bytes.every((byte) => byte === bytes[0])) return [`${setting} is one byte repeated. ${remedy}`];
  if (SHIPPED_KEYS.includes(Buffer.from(bytes).toString('hex'))) {
    return [`${setting} is an example that everyone knows. ${remedy}`];
  }
  return [];
}

/** Reports a private key file that this process cannot read, or that users outside the file's group can access. */
export function secretFileProblems(setting: string, path: string, file: ProcessFacts['file']): string[] {
  const facts = file(path);
  if (!facts?.readable) return [`${setting} ${path} cannot be read. Check the path and its owner.`];
  if ((facts.mode & 0o007) === 0) return [];
  return [
    `${setting} ${path} is open to everyone (mode ${octal(facts.mode)}). Run: chmod o= ${path}, and replace the key.`,
  ];
}
