import { createHmac, createPublicKey } from 'node:crypto';
import { ExchangeError } from '@measurement-exchange/contract';
import { encode, jws, makeKey, startTestIssuer, type TestIssuer } from '@measurement-exchange/testkit/issuer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenVerifier, type IssuerConfig, type TokenVerifier } from './tokens.ts';
import { unacceptable } from './verified.ts';

const NOW = 1_800_000_000;
const AUDIENCE = 'mex';
const ec = makeKey('ec');
const rsa = makeKey('rsa', 'RS256');
const ed = makeKey('ed', 'EdDSA');
const stranger = makeKey('ec');

let provider: TestIssuer;
let config: IssuerConfig;
let verifier: TokenVerifier;
let goodClaims: Record<string, unknown>;

beforeAll(async () => {
  provider = await startTestIssuer(ec, rsa, ed);
  config = { issuer: provider.url, audience: AUDIENCE, jwksUri: provider.jwksUri, principalClaim: 'party' };
  verifier = createTokenVerifier({ issuers: [config], clock: () => NOW * 1000 });
  goodClaims = { iss: provider.url, aud: AUDIENCE, sub: 'alice-the-subject', iat: NOW - 10, exp: NOW + 3600 };
});
afterAll(() => provider.close());

const claims = (changes: object = {}) => ({ ...goodClaims, ...changes });
const without = (name: string) => {
  const { [name]: _gone, ...rest } = goodClaims;
  return rest;
};
/** Replaces a claim with raw JSON text, because JSON.stringify cannot write values such as 1e999. */
const withRaw = (name: string, raw: string) => JSON.stringify(claims({ [name]: '@' })).replace('"@"', raw);
const flattened = (token: string) => {
  const [header, payload, signature] = token.split('.');
  return { protected: header, payload, signature };
};

describe('a valid token', () => {
  const good: [string, () => string][] = [
    ['signed with ES256', () => jws(ec, claims())],
    ['signed with RS256', () => jws(rsa, claims())],
    ['signed with EdDSA', () => jws(ed, claims())],
    ['without kid, when one key fits its alg', () => jws(ec, claims(), { kid: undefined })],
    ['without typ', () => jws(ec, claims(), { typ: undefined })],
    ['with typ in lower case', () => jws(ec, claims(), { typ: 'jwt' })],
    ['with typ as a media type', () => jws(ec, claims(), { typ: 'application/JWT' })],
    ['with aud as an array of only our audience', () => jws(ec, claims({ aud: [AUDIENCE] }))],
    ['with azp naming us', () => jws(ec, claims({ azp: AUDIENCE }))],
    ['with azp naming its own subject', () => jws(ec, claims({ azp: 'alice-the-subject' }))],
    ['with a sub of 255 characters', () => jws(ec, claims({ sub: 's'.repeat(255) }))],
    ['expired 60 s ago', () => jws(ec, claims({ exp: NOW - 60 }))],
    ['valid from 60 s ahead', () => jws(ec, claims({ nbf: NOW + 60 }))],
    ['issued 60 s ahead', () => jws(ec, claims({ iat: NOW + 60 }))],
    ['issued 24 h and 60 s ago', () => jws(ec, claims({ iat: NOW - 86_460 }))],
    ['with fractions of seconds', () => jws(ec, claims({ iat: NOW - 0.5, exp: NOW + 0.5 }))],
    [
      'valid for a hundred years, if it was issued recently',
      () => jws(ec, claims({ exp: NOW + 100 * 31_557_600 })),
    ],
    [
      'with jku, x5u, x5c and jwk, which are ignored',
      () =>
        jws(ec, claims(), {
          jku: `${provider.url}/evil`,
          x5u: 'http://x',
          x5c: ['AA'],
          jwk: stranger.publicJwk,
        }),
    ],
  ];
  it.each(good)('%s is accepted', async (_title, token) => {
    expect(await verifier.verify(token())).toMatchObject({ issuer: provider.url });
  });

  it('yields its issuer, subject, expiry and claimed principal', async () => {
    const verified = await verifier.verify(jws(ec, claims({ party: 'dataProviders/x' })));
    expect(verified).toEqual({
      issuer: provider.url,
      subject: 'alice-the-subject',
      expiresAt: NOW + 3600,
      claimedPrincipal: 'dataProviders/x',
    });
  });

  it('expires at the maximum age if exp is later', async () => {
    const verified = await verifier.verify(jws(ec, claims({ exp: NOW + 999_999 })));
    expect(verified.expiresAt).toBe(NOW - 10 + 86_400);
  });

  it('is accepted up to a length of 8 KiB', async () => {
    // Lengthening the claims alone cannot produce every total length, because the length of a base64url segment modulo
    // 4 is never 1. Therefore `padded` also lengthens the header.
    const padded = (length: number) => {
      const make = (n: number, m: number) => jws(ec, claims({ p: 'p'.repeat(m) }), { p: 'p'.repeat(n) });
      for (const [n, m] of [0, 1, 2].flatMap((n) => [5_900, 5_901, 5_902].map((m) => [n, m] as const))) {
        const missing = length - make(n, m).length;
        if (missing % 4 === 0) return make(n, m + (missing / 4) * 3);
      }
      return '';
    };
    expect([padded(8192).length, padded(8193).length]).toEqual([8192, 8193]);
    expect(await verifier.verify(padded(8192))).toMatchObject({ issuer: provider.url });
    await expect(verifier.verify(padded(8193))).rejects.toMatchObject({ cause: 'longer than 8 KiB' });
  });

  it('must have an algorithm of its issuer, and claims no principal if the issuer has no principalClaim', async () => {
    const { url: issuer, jwksUri, close } = await startTestIssuer(ed);
    const plain = { issuer, audience: AUDIENCE, jwksUri, algorithms: ['Ed25519'] };
    const strict = createTokenVerifier({ issuers: [plain], clock: () => NOW * 1000 });
    const issued = claims({ iss: issuer, party: 'operator', undefined: 'operator' });
    expect(await strict.verify(jws(ed, issued, { alg: 'Ed25519' }))).not.toHaveProperty('claimedPrincipal');
    await expect(strict.verify(jws(ed, issued))).rejects.toMatchObject({ cause: 'alg is not allowed' });
    await close();
  });

  it('claims no principal if the claim is not a string', async () => {
    expect(await verifier.verify(jws(ec, claims({ party: ['operator'] })))).not.toHaveProperty(
      'claimedPrincipal',
    );
  });
});

describe('an invalid token', () => {
  const hmac = (secret: string | Buffer, alg = 'HS256') => {
    const input = `${encode({ alg, kid: 'ec', typ: 'JWT' })}.${encode(claims())}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  const publicKey = () => createPublicKey({ key: ec.publicJwk as never, format: 'jwk' });
  const bad: [string, () => string][] = [
    ['with alg none and no signature', () => `${encode({ alg: 'none' })}.${encode(claims())}.`],
    ['with alg none and a signature', () => jws(ec, claims(), { alg: 'none' })],
    ['with alg NonE', () => jws(ec, claims(), { alg: 'NonE' })],
    [
      'with alg HS256 and the public key in PEM as the secret',
      () => hmac(publicKey().export({ format: 'pem', type: 'spki' }) as string),
    ],
    [
      'with alg HS256 and the public key in DER as the secret',
      () => hmac(publicKey().export({ format: 'der', type: 'spki' })),
    ],
    ['with alg ES256 and an HMAC', () => hmac('secret', 'ES256')],
    ['with alg missing', () => jws(ec, claims(), { alg: undefined })],
    ['with alg an array', () => jws(ec, claims(), { alg: ['ES256'] })],
    ['with an asymmetric alg that is not allowed here', () => jws(ec, claims(), { alg: 'ES384' })],
    ['with the alg of another key', () => jws(ec, claims(), { alg: 'RS256', kid: 'rsa' })],
    ['signed by another key under a known kid', () => jws(stranger, claims())],
    ['with an unknown kid', () => jws(ec, claims(), { kid: 'nobody' })],
    ['with a path as kid', () => jws(ec, claims(), { kid: '../../dev/null' })],
    ['with a number as kid', () => jws(ec, claims(), { kid: 1 })],
    ['that contains its own key', () => jws(stranger, claims(), { jwk: stranger.publicJwk, kid: undefined })],
    ['that names the URL of its key', () => jws(stranger, claims(), { jku: 'http://127.0.0.1:1/jwks' })],
    ['with typ at+jwt', () => jws(ec, claims(), { typ: 'at+jwt' })],
    ['with typ application/at+jwt', () => jws(ec, claims(), { typ: 'application/at+jwt' })],
    ['with typ logout+jwt', () => jws(ec, claims(), { typ: 'logout+jwt' })],
    ['with typ JWE', () => jws(ec, claims(), { typ: 'JWE' })],
    ['with typ null', () => jws(ec, claims(), { typ: null })],
    ['with an unknown crit', () => jws(ec, claims(), { crit: ['exp'], exp: NOW })],
    ['with crit b64', () => jws(ec, claims(), { crit: ['b64'], b64: true })],
    ['with an empty crit', () => jws(ec, claims(), { crit: [] })],
    ['of another issuer', () => jws(ec, claims({ iss: 'https://elsewhere.example' }))],
    ['with a slash after the issuer', () => jws(ec, claims({ iss: `${provider.url}/` }))],
    ['with an array of issuers', () => jws(ec, claims({ iss: [provider.url] }))],
    ['with iss constructor', () => jws(ec, claims({ iss: 'constructor' }))],
    ['for another audience', () => jws(ec, claims({ aud: 'other' }))],
    ['for our audience in capitals', () => jws(ec, claims({ aud: 'MEX' }))],
    ['for our audience and another', () => jws(ec, claims({ aud: [AUDIENCE, 'other'] }))],
    ['for no audience', () => jws(ec, claims({ aud: [] }))],
    ['for a nested audience', () => jws(ec, claims({ aud: [[AUDIENCE]] }))],
    ['issued to another party', () => jws(ec, claims({ azp: 'other' }))],
    ['with azp null', () => jws(ec, claims({ azp: null }))],
    ...['iss', 'aud', 'sub', 'exp', 'iat'].map((name): [string, () => string] => [
      `without ${name}`,
      () => jws(ec, without(name)),
    ]),
    ['with an empty sub', () => jws(ec, claims({ sub: '' }))],
    ['with a sub of 256 characters', () => jws(ec, claims({ sub: 's'.repeat(256) }))],
    ['with a number as sub', () => jws(ec, claims({ sub: 7 }))],
    ['expired 61 s ago', () => jws(ec, claims({ exp: NOW - 61 }))],
    ['expired 120 s ago', () => jws(ec, claims({ exp: NOW - 120 }))],
    ['with exp as text', () => jws(ec, claims({ exp: `${NOW + 60}` }))],
    ['with exp null', () => jws(ec, claims({ exp: null }))],
    ['with exp 1e999', () => jws(ec, withRaw('exp', '1e999'))],
    ['valid from 61 s ahead', () => jws(ec, claims({ nbf: NOW + 61 }))],
    ['valid from 120 s ahead', () => jws(ec, claims({ nbf: NOW + 120 }))],
    ['with nbf as text', () => jws(ec, claims({ nbf: '0' }))],
    ['issued 61 s ahead', () => jws(ec, claims({ iat: NOW + 61 }))],
    ['issued 120 s ahead', () => jws(ec, claims({ iat: NOW + 120 }))],
    ['issued 24 h and 61 s ago', () => jws(ec, claims({ iat: NOW - 86_461 }))],
    ['with iat -1e999', () => jws(ec, withRaw('iat', '-1e999'))],
    ['longer than 8 KiB', () => jws(ec, claims({ padding: 'p'.repeat(8192) }))],
    ['encrypted (JWE)', () => `${encode({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.AA.AA.AA.AA`],
    ['in the JSON serialization', () => JSON.stringify(flattened(jws(ec, claims())))],
    ['without its signature', () => jws(ec, claims()).split('.').slice(0, 2).join('.')],
    ['with an empty signature', () => `${jws(ec, claims()).split('.').slice(0, 2).join('.')}.`],
    ['cut short by one character', () => jws(ec, claims()).slice(0, -1)],
    ['with padding', () => `${jws(ec, claims())}==`],
    ['with a space before', () => ` ${jws(ec, claims())}`],
    ['with a newline after', () => `${jws(ec, claims())}\n`],
    [
      'with another claim under the same signature',
      () => {
        const [header, , signature] = jws(ec, claims()).split('.');
        return `${header}.${encode(claims({ sub: 'mallory' }))}.${signature}`;
      },
    ],
    ['whose claims are not JSON', () => jws(ec, '{"iss":')],
    ['whose claims are an array', () => jws(ec, '[]')],
    ['whose claims are null', () => jws(ec, 'null')],
    ['whose claims are text', () => jws(ec, '"text"')],
    ['whose claims begin with a byte order mark', () => jws(ec, `\ufeff${JSON.stringify(claims())}`)],
    ['whose header is not JSON', () => `${encode('{')}.${jws(ec, claims()).split('.').slice(1).join('.')}`],
    [
      'whose claims are not UTF-8',
      () => jws(ec, Buffer.from(JSON.stringify(claims({ note: 'é' })), 'latin1')),
    ],
    ['that is empty', () => ''],
    ['that is three dots', () => '...'],
  ];

  it.each(bad)('%s is rejected with the same 401 error', async (_title, make) => {
    const token = make();
    const error = await verifier.verify(token).then(
      () => undefined,
      (e) => e,
    );
    expect(error).toBeInstanceOf(ExchangeError);
    expect(error.httpStatus).toBe(401);
    expect(error.toJSON()).toEqual(unacceptable('any other reason').toJSON());
    // The log gets the reason, without the token and without its claims.
    expect(error.cause).toMatch(/^[\w \-+,]{3,80}$/);
    expect(error.cause).not.toContain('alice');
  });

  it('never causes a fetch of keys within the cooldown', () => {
    expect(provider.fetches).toBe(1);
  });

  it('results from any change of one character of a valid token', async () => {
    const token = jws(ec, claims());
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let i = 0; i < token.length; i++) {
      if (token[i] === '.') continue;
      // Flip the lowest bit of the character. In the last character of a part, this bit may be unused, and the token
      // must still be rejected.
      const other = alphabet[alphabet.indexOf(token[i]!) ^ 1];
      const changed = token.slice(0, i) + other + token.slice(i + 1);
      await expect(verifier.verify(changed), `at ${i}`).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
    }
  });
});

it.each(['abc ', 'a b', 'abc,Bearer def', 'abc\n', 'ä', '=', 'a.b.c=', 'a.b.c '])(
  'a token that is %j is rejected',
  async (token) => {
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
  },
);

describe('a configuration is rejected', () => {
  const good = { issuer: 'https://idp.example', audience: 'mex', jwksFile: '/keys.json' };
  const bad: [string, IssuerConfig[]][] = [
    ['without issuers', []],
    ['with a duplicate issuer', [good, { ...good, audience: 'other' }]],
    ['with an empty issuer', [{ ...good, issuer: '' }]],
    ['with an empty audience', [{ ...good, audience: '' }]],
    ['without jwksUri and jwksFile', [{ issuer: 'https://idp.example', audience: 'mex' }]],
    ['with both jwksUri and jwksFile', [{ ...good, jwksUri: 'https://idp.example/jwks' }]],
    ['with algorithm HS256', [{ ...good, algorithms: ['RS256', 'HS256'] }]],
    ['with algorithm none', [{ ...good, algorithms: ['none'] }]],
    ['with an empty list of algorithms', [{ ...good, algorithms: [] }]],
    ['with an infinite maximum age', [{ ...good, maxTokenAgeSeconds: Number.POSITIVE_INFINITY }]],
  ];
  it.each(bad)('%s', (_title, issuers) => {
    expect(() => createTokenVerifier({ issuers })).toThrow(Error);
  });
});
