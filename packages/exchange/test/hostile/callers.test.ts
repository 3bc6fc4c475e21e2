/** Tests callers with false identities, and callers that send too many requests. */
import { createHmac, createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkedErrorOf, fingerprint } from '@measurement-exchange/testkit/errorModel';
import { startExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { encode, jws, makeKey, type SigningKey } from '@measurement-exchange/testkit/issuer';
import { bytesOf, send } from '@measurement-exchange/testkit/rawHttp';
import { castOf, stored } from '@measurement-exchange/testkit/steps';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEV_AUDIENCE } from '../../src/auth/devIssuer.ts';
import type { Config } from '../../src/config/config.ts';
import { Database } from '../../src/database/db.ts';
import { devKeyFile } from '../../src/dev/index.ts';

let exchange: TestExchange;
/** Starts a separate server for each test, because a rate limit that was used up in one test would affect the next. */
const begin = async (overrides: Partial<Config> = {}) => {
  exchange = await startExchange(overrides);
  return castOf(exchange);
};
afterEach(async () => {
  expect((await exchange.logs()).join('')).not.toMatch(/"level":[56]0/);
  expect(await exchange.stop()).toEqual([]);
});

/** Returns the key of the development issuer, with which the tests can sign any token. */
function devKey(): SigningKey & { publicJwk: JsonWebKey } {
  const jwk = JSON.parse(readFileSync(devKeyFile(exchange.dataDir), 'utf8')) as JsonWebKey & { kid: string };
  const { d: _d, ...publicJwk } = jwk;
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  return { kid: jwk.kid, alg: 'ES256', privateKey, publicJwk } as SigningKey & { publicJwk: JsonWebKey };
}

function claimsOf(name: string): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  const iss = `${exchange.url}/dev`;
  return { iss, aud: DEV_AUDIENCE, sub: name, mex_principal: name, iat: now, exp: now + 600 };
}

describe('tokens', () => {
  it('that are invalid for any reason get the same 401 response, and are not logged', async () => {
    const { acme } = await begin();
    const before = await stored(exchange);
    const key = devKey();
    const { publicJwk } = key;
    const pem = createPublicKey({ key: publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const now = Math.floor(Date.now() / 1000);
    const claims = claimsOf(acme.name);
    const whoAmI = (authorization: string) =>
      send(exchange.url, bytesOf('GET', '/v2alpha/whoami', { headers: [`Authorization: ${authorization}`] }));
    // The exchange accepts this valid token. Each token below differs from this token in one respect.
    expect((await whoAmI(`Bearer ${jws(key, claims)}`)).status).toBe(200);

    const but = (changes: object) => jws(key, { ...claims, ...changes });
    const unsigned = (header: object) => `${encode(header)}.${encode(claims)}`;
    const hmac = (secret: string | Buffer) => {
      const input = unsigned({ alg: 'HS256', kid: key.kid, typ: 'JWT' });
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    };
    const mallory = makeKey(key.kid);
    const good = jws(key, claims);
    const [header, payload, signature] = good.split('.') as [string, string, string];
    const tokens = {
      'alg none': `${unsigned({ alg: 'none', typ: 'JWT' })}.`,
      'alg None, with a signature': `${unsigned({ alg: 'None', kid: key.kid })}.${signature}`,
      'HS256 with the public JWK': hmac(JSON.stringify(publicJwk)),
      'HS256 with the public PEM': hmac(pem),
      'HS256 with the coordinate x': hmac(Buffer.from(publicJwk.x!, 'base64url')),
      'another alg named': jws(key, claims, { alg: 'ES384' }),
      'wrong aud': but({ aud: 'another-service' }),
      'an audience besides': but({ aud: [DEV_AUDIENCE, 'another-service'] }),
      'no aud': but({ aud: undefined }),
      'wrong iss': but({ iss: 'https://issuer.example' }),
      'iss with a slash': but({ iss: `${exchange.url}/dev/` }),
      'typ of an access token': jws(key, claims, { typ: 'at+jwt' }),
      'typ of a logout token': jws(key, claims, { typ: 'logout+jwt' }),
      'no exp': but({ exp: undefined }),
      'exp as text': but({ exp: String(now + 600) }),
      'no iat': but({ iat: undefined }),
      'no sub': but({ sub: undefined }),
      'empty sub': but({ sub: '' }),
      expired: but({ iat: now - 700, exp: now - 90 }),
      'too old, though not expired': but({ iat: now - 25 * 3600, exp: now + 600 }),
      'not yet valid': but({ nbf: now + 90 }),
      'from the future': but({ iat: now + 90 }),
      'unknown kid': jws({ ...key, kid: 'unknown' }, claims),
      'a kid that is a path': jws({ ...key, kid: '../../etc/passwd' }, claims),
      "another's key under our kid": jws(mallory, claims),
      'its own key in the header': jws(mallory, claims, { jwk: mallory.publicJwk }),
      'its own key behind a URL': jws(mallory, claims, { jku: 'http://127.0.0.1:1/jwks' }),
      crit: jws(key, claims, { crit: ['b64'], b64: false }),
      oversize: but({ padding: 'x'.repeat(8 * 1024) }),
      'another payload': `${header}.${encode({ ...claims, sub: 'operator', mex_principal: 'operator' })}.${signature}`,
      'a signature cut short': good.slice(0, -2),
      'an empty signature': `${header}.${payload}.`,
      'a signature of zeros': `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      'four parts': `${good}.${signature}`,
      'five parts': `${good}..`,
      'base64 with padding': `${header}=.${payload}.${signature}`,
      'claims that are no object': jws(key, '[]'),
      'claims that are no JSON': jws(key, '{"iss":'),
      'nothing but dots': '..',
    };
    const replies = await Promise.all([
      ...Object.values(tokens).map((token) => whoAmI(`Bearer ${token}`)),
      ...['', 'Bearer', 'Bearer ', `Basic ${good}`, good, `Bearer ${good} ${good}`, `Bearer  ${good}`].map(
        whoAmI,
      ),
      ...[`Bearer "${good}"`, `Bearer ${good},`, `Bearer\t${good}`, `Bearer {"a":1}`].map(whoAmI),
      send(exchange.url, bytesOf('GET', '/v2alpha/whoami')),
      send(exchange.url, bytesOf('GET', `/v2alpha/whoami?access_token=${good}`)),
    ]);
    const titles = Object.keys(tokens);
    for (const [i, reply] of replies.entries()) {
      expect(checkedErrorOf(reply), titles[i]).toBe('401 TOKEN_INVALID');
      expect(fingerprint(reply), titles[i]).toBe(fingerprint(replies[0]!));
    }
    const logs = (await exchange.logs()).join('');
    expect(logs).not.toContain(signature);
    expect(logs).not.toContain(payload);
    expect(await stored(exchange)).toEqual(before);
  });
});

describe('rate limits', () => {
  const whoAmI = (token: string) => exchange.call(token, 'GET', '/v2alpha/whoami');
  const times = <T>(count: number, ask: () => Promise<T>) => Promise.all(Array.from({ length: count }, ask));

  // Use fake timers, so that the rate limits do not recover on a slow machine.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('a principal beyond its rate gets 429 with a retry delay, and another principal is not limited', async () => {
    const { acme, globex } = await begin({ rate: { perSecond: 1, burst: 3 } });
    const first = await whoAmI(globex.token);
    expect(first.headers.get('ratelimit-limit')).toBe('3');
    expect(first.headers.get('ratelimit-remaining')).toBe('2');
    expect(first.headers.get('ratelimit-reset')).toBe('1');

    const replies = await times(8, () => whoAmI(acme.token));
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(5);
    for (const reply of refused) {
      expect(checkedErrorOf(reply)).toBe('429 RATE_LIMITED');
      expect(reply.headers.get('retry-after')).toBe('1');
      expect(reply.headers.get('ratelimit-limit')).toBe('3');
      expect(reply.headers.get('ratelimit-remaining')).toBe('0');
      expect(reply.headers.get('ratelimit-reset')).toBe('3');
      expect(reply.json.error.details.slice(1)).toEqual([
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' },
      ]);
    }
    expect((await whoAmI(globex.token)).status).toBe(200);
    vi.advanceTimersByTime(1_100);
    expect((await whoAmI(acme.token)).status).toBe(200);
  });

  it('a principal can have a separate rate', async () => {
    const { acme, globex } = await begin({
      rate: { perSecond: 1, burst: 1 },
      rates: { 'measurementConsumers/acme': { perSecond: 1, burst: 20 } },
    });
    const statuses = async (token: string) =>
      (await times(10, () => whoAmI(token))).map(({ status }) => status);
    expect(new Set(await statuses(acme.token))).toEqual(new Set([200]));
    expect((await statuses(globex.token)).filter((status) => status === 200)).toHaveLength(1);
  });

  it('an address with too many bad tokens gets 429 for a while, and another address does not', async () => {
    const { acme } = await begin();
    expect((await whoAmI(acme.token)).status).toBe(200);
    const replies = await times(230, () => whoAmI('bad'));
    const refused = replies.filter(({ status }) => status !== 401);
    // The limit is 200 bad tokens at once and 50 more a second.
    expect(refused).toHaveLength(30);
    vi.advanceTimersByTime(100);
    const later = await times(10, () => whoAmI('bad'));
    expect(later.filter(({ status }) => status === 401)).toHaveLength(5);
    for (const reply of refused) {
      expect(checkedErrorOf(reply)).toBe('429 RATE_LIMITED');
      expect(reply.headers.get('retry-after')).toBe('1');
      expect(reply.json.error.details[1].retryDelay).toBe('1s');
    }
    const request = bytesOf('GET', '/v2alpha/whoami', { token: acme.token });
    expect((await send(exchange.url, request, { localAddress: '127.0.0.2' })).status).toBe(200);
    expect((await whoAmI(acme.token)).status).toBe(200);
  });

  it('a flood of bad tokens does not block valid tokens of known callers at the same address', async () => {
    const { acme, globex, streamly } = await begin();
    const key = devKey();
    const mallory = makeKey(key.kid);
    let drawn = 0;
    const forged = (name: string) => jws(mallory, { ...claimsOf(name), jti: drawn++ });
    const flood = async (make: () => string) =>
      (await times(210, () => whoAmI(make()))).map(({ status }) => status);
    expect((await whoAmI(acme.token)).status).toBe(200);

    // Malformed tokens need no signature check. A flood of them is limited, but it does not block any valid token. In
    // this test, a caller is known after the exchange has accepted one of its tokens.
    expect(new Set(await flood(() => 'bad'))).toEqual(new Set([401, 429]));
    expect((await whoAmI(acme.token)).status).toBe(200);
    expect((await whoAmI(globex.token)).status).toBe(200);

    // During a flood of forged tokens for unknown parties, a known caller still gets in, even with a new token.
    expect(await flood(() => forged('dataProviders/nobody'))).not.toContain(200);
    expect(await flood(() => forged('dataProviders/nobody'))).toContain(429);
    expect((await whoAmI(acme.token)).status).toBe(200);
    expect((await whoAmI(jws(key, claimsOf(acme.name)))).status).toBe(200);

    // During a flood of forged tokens for acme, which is known, an acme token that the exchange accepted earlier still
    // works. A new token of globex, another known caller, also works.
    await flood(() => forged(acme.name));
    expect((await whoAmI(acme.token)).status).toBe(200);
    expect((await whoAmI(jws(key, claimsOf(globex.name)))).status).toBe(200);

    // streamly is an unknown caller, because the exchange has not accepted any of its tokens yet. An unknown caller is
    // blocked only while the flood lasts.
    vi.advanceTimersByTime(100);
    expect((await whoAmI(streamly.token)).status).toBe(200);
  });

  it('a subject with no principal, or a suspended one, is limited like a principal', async () => {
    const { acme, globex } = await begin({ rate: { perSecond: 1, burst: 3 } });
    await exchange.database.query("UPDATE parties SET state = 'SUSPENDED' WHERE name = $1", [globex.name]);
    const unbound = jws(devKey(), claimsOf('dataProviders/nobody'));
    for (const [token, expected] of [
      [unbound, '403 PRINCIPAL_UNKNOWN'],
      [globex.token, '403 PRINCIPAL_SUSPENDED'],
    ] as const) {
      const replies = await times(8, () => whoAmI(token));
      const answers = replies.map((reply) => checkedErrorOf(reply)).sort();
      expect(answers).toEqual([...Array(3).fill(expected), ...Array(5).fill('429 RATE_LIMITED')]);
    }
    expect((await whoAmI(acme.token)).status).toBe(200);
  });

  it('many requests to /readyz query the database at most once a second', async () => {
    await begin();
    const queries = vi.spyOn(Database.prototype, 'query');
    try {
      const ready = () => exchange.call(undefined, 'GET', '/readyz');
      const began = Date.now();
      const replies = await times(100, ready);
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
      const pings = queries.mock.calls.filter(([{ name }]) => name === 'ping').length;
      expect(pings).toBeLessThanOrEqual(1 + (Date.now() - began) / 1000);
    } finally {
      queries.mockRestore();
    }
  });
});
