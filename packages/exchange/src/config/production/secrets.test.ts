import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { accepts, problemsOf, refuses } from '../../../test/production/settings.ts';

describe('the secrets key', () => {
  it('must have exactly 32 bytes', () => {
    const problemsWith = (bytes: number) => problemsOf({ secretsKey: randomBytes(bytes).toString('base64') });
    expect(problemsWith(31)).toEqual([expect.stringMatching(/^secretsKey has 31 bytes, fewer than 32/)]);
    expect(problemsWith(33)).toEqual([expect.stringMatching(/^secretsKey has 33 bytes, more than 32/)]);
    expect(problemsOf({ secretsKey: undefined })).toEqual([expect.stringMatching(/^secretsKey is not set/)]);
  });
});

describe('the page token key', () => {
  const key = (bytes: Uint8Array | string) => () =>
    problemsOf({ pageTokenKey: typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64') });
  accepts([['a key of 48 bytes', key(randomBytes(48))]]);
  refuses([
    [
      'a missing key',
      () => problemsOf({ pageTokenKey: undefined }),
      /^pageTokenKey is not set.*openssl rand/,
    ],
    ['an empty key', key(''), /^pageTokenKey is not set/],
    ['a key that is not base64', key('not base64, but longer than thirty-two bytes'), /is not base64/],
    ['a key of 31 bytes', key(randomBytes(31)), /has 31 bytes, fewer than 32/],
    ['a key of one repeated byte', key(Buffer.alloc(32, 7)), /one byte repeated/],
    [
      'a key of ascending bytes',
      key(Buffer.from(Array.from({ length: 32 }, (_, i) => i))),
      /an example that everyone knows/,
    ],
  ]);

  it('refuses every key that is printed in this repository', () => {
    const root = new URL('../../../../../', import.meta.url);
    const files = ['docs', 'packaging', 'packages'].flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(md|json|ts|service|sh)$/.test(file) && !file.includes('node_modules'))
        .map((file) => new URL(`${folder}/${file}`, root)),
    );
    const keys = files.flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(/(?:pageToken|secrets)Key["']?\s*[:=]\s*["']([^"']+)["']/g),
      ].map((m) => m[1]!),
    );
    expect(keys).toContain('ZXhhbXBsZS1wYWdlLXRva2VuLWtleS1kby1ub3QtdXNl'); // the key printed in docs/production.md
    for (const shipped of keys) expect(problemsOf({ pageTokenKey: shipped })).toHaveLength(1);
  });
});
