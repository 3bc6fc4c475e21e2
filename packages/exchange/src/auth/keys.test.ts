import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  jws,
  makeKey,
  type SigningKey,
  startTestIssuer,
  type TestIssuer,
} from '@measurement-exchange/testkit/issuer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenVerifier, type TokenVerifier } from './tokens.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const oldKey = makeKey('old');
const newKey = makeKey('new');

let now: number;
let provider: TestIssuer;
let verifier: TokenVerifier;
let serial = 0;

beforeEach(async () => {
  now = 1_800_000_000_000;
  provider = await startTestIssuer(oldKey);
  verifier = createTokenVerifier({
    issuers: [{ issuer: provider.url, audience: 'mex', jwksUri: provider.jwksUri }],
    clock: () => now,
  });
});
afterEach(() => provider.close());

/** Signs a new token, which is not in the token cache. */
const fresh = (key: SigningKey, header: object = {}, seconds = 3600) => {
  const iat = Math.floor(now / 1000);
  const sub = `subject-${++serial}`;
  return jws(key, { iss: provider.url, aud: 'mex', sub, iat, exp: iat + seconds }, header);
};
const outcome = (token: string) =>
  verifier.verify(token).then(
    () => 'accepted',
    (error) => error.reason as string,
  );
const down = () => {
  provider.respond = (response) => provider.publish(response.writeHead(500));
};
const settle = () => new Promise((done) => setTimeout(done, 50));

describe('key rotation', () => {
  it('accepts a new key 30 s after the last fetch, but not earlier', async () => {
    expect(await outcome(fresh(oldKey))).toBe('accepted');
    provider.keys.push(newKey);
    now += 29 * SECOND;
    expect(await outcome(fresh(newKey))).toBe('TOKEN_INVALID');
    now += 1 * SECOND;
    expect(await outcome(fresh(newKey))).toBe('accepted');
    expect(provider.fetches).toBe(2);
  });

  it('accepts a key that replaced another key with the same kid', async () => {
    const again = makeKey('old');
    await outcome(fresh(oldKey));
    provider.keys.splice(0, 1, again);
    now += 30 * SECOND;
    expect(await outcome(fresh(again))).toBe('accepted');
    expect(await outcome(fresh(oldKey))).toBe('TOKEN_INVALID');
  });

  it('uses no cached key for longer than 10 min, even for a recently accepted token', async () => {
    const token = fresh(oldKey);
    expect(await outcome(token)).toBe('accepted');
    provider.keys.splice(0, 1, newKey);
    now += 10 * MINUTE - 1;
    provider.respond = () => {}; // The refresh hangs, so the cached keys are used until they expire.
    expect(await outcome(token)).toBe('accepted');
    provider.respond = provider.publish;
    await provider.close();
    now += 1;
    expect(await outcome(token)).toBe('KEYS_UNAVAILABLE');
  });

  it('refreshes keys at half of their maximum age, not earlier', async () => {
    await outcome(fresh(oldKey));
    for (const [wait, fetches] of [
      [5 * MINUTE - 1, 1],
      [1, 2],
    ] as const) {
      now += wait;
      expect(await outcome(fresh(oldKey))).toBe('accepted');
      await settle();
      await expect.poll(() => provider.fetches).toBe(fetches);
    }
  });

  it('rejects a withdrawn key after a background refresh at half of the maximum age', async () => {
    expect(await outcome(fresh(oldKey))).toBe('accepted');
    provider.keys.splice(0, 1, newKey);
    now += 5 * MINUTE;
    expect(await outcome(fresh(oldKey))).toBe('accepted');
    await expect.poll(() => outcome(fresh(oldKey))).toBe('TOKEN_INVALID');
  });
});

describe('many tokens', () => {
  it('with unknown kids cause one fetch per cooldown', async () => {
    await outcome(fresh(oldKey));
    now += 30 * SECOND;
    for (let round = 0; round < 3; round++) {
      const storm = Array.from({ length: 50 }, (_, i) => outcome(fresh(oldKey, { kid: `k${i}` })));
      expect(new Set(await Promise.all(storm))).toEqual(new Set(['TOKEN_INVALID']));
      now += 10 * SECOND - 1;
    }
    expect(provider.fetches).toBe(2);
  });

  it('cause one fetch per cooldown while the issuer is down', async () => {
    await outcome(fresh(oldKey));
    down();
    now += 30 * SECOND;
    for (let i = 0; i < 50; i++) {
      expect(await outcome(fresh(oldKey, { kid: `k${i}` }))).toBe('KEYS_UNAVAILABLE');
      expect(await outcome(fresh(makeKey('old')))).toBe('TOKEN_INVALID');
    }
    expect(provider.fetches).toBe(2);
  });

  it('share one fetch at the start', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => outcome(fresh(oldKey))));
    expect(new Set(all)).toEqual(new Set(['accepted']));
    expect(provider.fetches).toBe(1);
  });
});

describe('an outage of the issuer', () => {
  const outages: [string, () => void | Promise<void>][] = [
    ['the server is down', () => provider.close()],
    ['the response is 500', down],
    [
      'the response is a redirect, even to good keys',
      () => {
        provider.respond = (response) => {
          if (response.req.url === '/elsewhere') provider.publish(response);
          else response.writeHead(302, { location: '/elsewhere' }).end();
        };
      },
    ],
    [
      'the response is not JSON',
      () => {
        provider.respond = (response) => response.end('<html>');
      },
    ],
    [
      'the response is not a key set',
      () => {
        provider.respond = (response) => response.end('{"keys": 7}');
      },
    ],
  ];
  it.each(outages)('without cached keys rejects tokens with KEYS_UNAVAILABLE: %s', async (_title, begin) => {
    await begin();
    expect(await outcome(fresh(oldKey))).toBe('KEYS_UNAVAILABLE');
  });

  it.each(outages)('is bridged by cached keys for 10 min, but not longer: %s', async (_title, begin) => {
    await outcome(fresh(oldKey));
    await begin();
    for (let minute = 1; minute < 10; minute++) {
      now += MINUTE;
      expect(await outcome(fresh(oldKey))).toBe('accepted');
      await settle();
    }
    now += MINUTE;
    expect(await outcome(fresh(oldKey))).toBe('KEYS_UNAVAILABLE');
  });

  it('ends with a retry one second after the failed fetch', async () => {
    down();
    expect(await outcome(fresh(oldKey))).toBe('KEYS_UNAVAILABLE');
    provider.respond = provider.publish;
    expect(await outcome(fresh(oldKey))).toBe('KEYS_UNAVAILABLE');
    now += SECOND;
    expect(await outcome(fresh(oldKey))).toBe('accepted');
  });

  it('does not change that an expired token is rejected with TOKEN_INVALID', async () => {
    down();
    expect(await outcome(fresh(oldKey, {}, -120))).toBe('TOKEN_INVALID');
    expect(provider.fetches).toBe(0);
  });
});

describe('a fetch of keys', () => {
  it('follows no redirect, requests JSON, has a timeout, and cancels an unread response body', async () => {
    const asked: [unknown, RequestInit | undefined][] = [];
    let cancelled = 0;
    const body = () => new ReadableStream({ cancel: () => void cancelled++ });
    verifier = createTokenVerifier({
      issuers: [{ issuer: provider.url, audience: 'mex', jwksUri: provider.jwksUri }],
      clock: () => now,
      fetch: async (url, init) => {
        asked.push([url, init]);
        return new Response(body(), { status: 201 });
      },
    });
    const error = await verifier.verify(fresh(oldKey)).catch((e) => e);
    expect(asked).toMatchObject([
      [
        provider.jwksUri,
        { redirect: 'error', headers: { accept: 'application/json, application/jwk-set+json' } },
      ],
    ]);
    expect(asked[0]![1]!.signal).toBeInstanceOf(AbortSignal);
    expect(cancelled).toBe(1);
    expect(error).toMatchObject({
      reason: 'KEYS_UNAVAILABLE',
      retryAfterSeconds: 1,
      cause: { message: `${provider.jwksUri} responded with 201` },
    });
  });
});

describe('an accepted token', () => {
  it('is cached for 60 s', async () => {
    const token = fresh(oldKey);
    await outcome(token);
    const known = await verifier.verify(token);
    now += MINUTE - 1;
    expect(await verifier.verify(token)).toBe(known);
    expect(verifier.recall(token)).toBe(known);
    now += 1;
    expect(verifier.recall(token)).toBeUndefined();
    expect(await verifier.verify(token)).not.toBe(known);
  });

  it('is not cached after it has expired', async () => {
    const token = fresh(oldKey, {}, 10);
    const known = await verifier.verify(token);
    now += 10 * SECOND;
    expect(verifier.recall(token)).toBeUndefined();
    // A token that expired less than a minute ago (the allowed clock skew) is still accepted, after a full check.
    expect(await verifier.verify(token)).not.toBe(known);
    now += 61 * SECOND;
    expect(await outcome(token)).toBe('TOKEN_INVALID');
  });
});

describe('keys in a file', () => {
  it('are reloaded when the file changes, and used for 10 min after the file was deleted', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mex-keys-'));
    const jwksFile = join(directory, 'jwks.json');
    const save = (key: SigningKey) => writeFile(jwksFile, JSON.stringify({ keys: [key.publicJwk] }));
    verifier = createTokenVerifier({
      issuers: [{ issuer: provider.url, audience: 'mex', jwksFile }],
      clock: () => now,
    });
    expect(await outcome(fresh(oldKey))).toBe('KEYS_UNAVAILABLE');
    await save(oldKey);
    now += SECOND;
    expect(await outcome(fresh(oldKey))).toBe('accepted');
    await save(newKey);
    now += SECOND;
    expect(await outcome(fresh(oldKey))).toBe('TOKEN_INVALID');
    expect(await outcome(fresh(newKey))).toBe('accepted');
    await rm(directory, { recursive: true });
    now += 9 * MINUTE;
    expect(await outcome(fresh(newKey))).toBe('accepted');
    now += MINUTE;
    expect(await outcome(fresh(newKey))).toBe('KEYS_UNAVAILABLE');
    expect(provider.fetches).toBe(0);
  });
});
