/** The corpus of tokens: valid tokens, and tokens with one defect each. */
import { jws, makeKey } from '@measurement-exchange/testkit/issuer';
import { type Base, but, goodClaims, type Issuer, N, type Tokens } from './base.ts';
import { badClaims, badHeaders, badTimes } from './contents.ts';
import { badForms, badSchemes } from './forms.ts';
import { badAlgorithms, badKeys } from './signatures.ts';

export interface CorpusEntry {
  title: string;
  /** The whole Authorization header. */
  authorization: string;
  good: boolean;
}

/** Makes the corpus. Call it for each use, because the times in the tokens are relative to now. */
export function tokenCorpus(issuer: Issuer, canary?: string): CorpusEntry[] {
  const now = Math.floor(Date.now() / 1000);
  const { key } = issuer;
  const claims = goodClaims(issuer, now, canary);
  const base: Base = { key, mallory: makeKey(key.kid), claims, now };
  const plain = jws(key, claims);
  const bad = [badAlgorithms, badKeys, badHeaders, badClaims, badTimes, badForms].map((make) => make(base));
  return [
    ...entries(bearer(goodTokens(base)), true),
    { title: 'bearer in lower case', authorization: `bearer ${plain}`, good: true },
    ...bad.flatMap((tokens) => entries(bearer(tokens), false)),
    ...entries(badSchemes(plain), false),
  ];
}

function bearer(tokens: Tokens): Record<string, string> {
  return Object.fromEntries(Object.entries(tokens).map(([title, token]) => [title, `Bearer ${token}`]));
}

function entries(headers: Record<string, string>, good: boolean): CorpusEntry[] {
  return Object.entries(headers).map(([title, authorization]) => ({ title, authorization, good }));
}

function goodTokens(base: Base): Tokens {
  const { key, claims, now, mallory } = base;
  return {
    'a valid token': jws(key, claims),
    'no kid if only one key matches': jws(key, claims, { kid: undefined }),
    'no typ': jws(key, claims, { typ: undefined }),
    'typ in lower case': jws(key, claims, { typ: 'jwt' }),
    'typ as a media type': jws(key, claims, { typ: 'application/jwt' }),
    'aud as an array with the audience': but(base, { aud: [claims.aud] }),
    'azp is the audience': but(base, { azp: claims.aud }),
    'azp is the subject': but(base, { azp: claims.sub }),
    'expired 50 s ago': but(base, { iat: now - 600, exp: now - 50 }),
    'nbf 50 s in the future': but(base, { nbf: now + 50 }),
    'iat 50 s in the future': but(base, { iat: now + 50 }),
    'nearly a day old': but(base, { iat: now - 86_000 }),
    'exp in a hundred years': but(base, { exp: now + 100 * 31_557_600 }),
    'times with fractions': but(base, { iat: now - 0.5, exp: now + 600.5 }),
    'keys in the header, which are ignored': jws(key, claims, {
      jku: 'http://127.0.0.1:1/jwks',
      x5u: 'http://127.0.0.1:1/x5u',
      x5c: ['AA=='],
      x5t: 'AA',
      jwk: mallory.publicJwk,
    }),
    'unknown claims': but(base, { scope: 'operator', groups: ['operator'], nonce: 'n', cnf: {} }),
    'unicode in a claim': but(base, { name: 'Zoë 🦊 \u202e' }),
    // For every ECDSA signature (r, s), the signature (r, n − s) is also valid for the same message. Here, n is the
    // order of the curve.
    'the same signature with n - s in place of s': otherS(jws(key, claims)),
  };
}

function otherS(token: string): string {
  const [header, payload, signature] = token.split('.');
  const bytes = Buffer.from(signature!, 'base64url');
  const s = N - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  bytes.write(s.toString(16).padStart(64, '0'), 32, 'hex');
  return `${header}.${payload}.${bytes.toString('base64url')}`;
}
