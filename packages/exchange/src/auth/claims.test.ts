import { describe, expect, it } from 'vitest';
import {
  ASYMMETRIC_ALGORITHMS,
  checkIssuers,
  claimsError,
  expiryOf,
  headerError,
  type IssuerConfig,
} from './claims.ts';

const NOW = 1_800_000_000;
const issuer: IssuerConfig = { issuer: 'https://idp.example', audience: 'mex', jwksFile: '/keys.json' };
const header = { alg: 'ES256', typ: 'JWT' };
const claims = { aud: 'mex', sub: 'alice', iat: NOW - 10, exp: NOW + 3600 };

describe('a header', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('is accepted with alg %s by default', (alg) => {
    expect(headerError({ alg }, issuer)).toBeUndefined();
  });

  it('is accepted only with a configured alg', () => {
    const strict = { ...issuer, algorithms: ['PS256'] };
    expect(headerError({ alg: 'PS256' }, strict)).toBeUndefined();
    expect(headerError({ alg: 'ES256' }, strict)).toBe('alg is not allowed');
    expect(headerError({ alg: 'PS256' }, issuer)).toBe('alg is not allowed');
  });

  it.each([
    [{}, undefined],
    [{ typ: undefined }, undefined],
    [{ typ: 'application/jwt' }, undefined],
    [{ typ: 'at+jwt' }, 'typ is not that of an ID token'],
    [{ typ: 7 }, 'typ is not that of an ID token'],
    [{ typ: null }, 'typ is not that of an ID token'],
    [{ crit: [] }, 'crit is not supported'],
    [{ jku: 'x', kid: 'y' }, undefined],
  ])('with %j has the error %j', (changes, why) => {
    expect(headerError({ ...header, ...changes }, issuer)).toBe(why);
  });
});

describe('claims', () => {
  const SUB = 'sub is not a string of 1 to 255 characters';
  it.each<[object, string | undefined]>([
    [{}, undefined],
    [{ sub: undefined }, SUB],
    [{ sub: 7 }, SUB],
    [{ sub: '' }, SUB],
    [{ sub: 's'.repeat(255) }, undefined],
    [{ sub: 's'.repeat(256) }, SUB],
    [{ aud: ['mex'] }, undefined],
    [{ aud: ['mex', 'mex'] }, undefined],
    [{ aud: [] }, 'aud is not ours alone'],
    [{ aud: ['mex', 'other'] }, 'aud is not ours alone'],
    [{ aud: undefined }, 'aud is not ours alone'],
    [{ azp: 'mex' }, undefined],
    [{ azp: 'alice' }, undefined],
    [{ azp: 'other' }, 'azp is another party'],
    [{ exp: 'x' }, 'exp is not a time'],
    [{ exp: Number.POSITIVE_INFINITY }, 'exp is not a time'],
    [{ iat: undefined }, 'iat is not a time'],
    [{ nbf: '0' }, 'nbf is not a time'],
    [{ nbf: undefined }, undefined],
    [{ exp: NOW - 60 }, undefined],
    [{ exp: NOW - 61 }, 'exp is past'],
    [{ nbf: NOW + 60 }, undefined],
    [{ nbf: NOW + 61 }, 'nbf is ahead'],
    [{ iat: NOW + 60 }, undefined],
    [{ iat: NOW + 61 }, 'iat is ahead'],
    [{ iat: NOW - 86_460 }, undefined],
    [{ iat: NOW - 86_461 }, 'iat is too long ago'],
  ])('with %j have the error %j', (changes, why) => {
    expect(claimsError({ ...claims, ...changes }, issuer, NOW)).toBe(why);
  });

  it('are accepted if azp is a configured client, and rejected if azp is an unknown client', () => {
    const withClients = { ...issuer, clients: ['agent'] };
    const to = (azp: unknown) => claimsError({ ...claims, azp }, withClients, NOW);
    expect(['agent', 'mex', 'alice'].map(to)).toEqual([undefined, undefined, undefined]);
    for (const azp of ['other', '', null, ['agent'], 7]) expect(to(azp)).toBe('azp is another party');
  });

  it('expire at exp or at the maximum age, whichever is earlier', () => {
    expect(expiryOf(claims, issuer)).toBe(NOW + 3600);
    expect(expiryOf({ ...claims, exp: NOW + 999_999 }, issuer)).toBe(NOW - 10 + 86_400);
    const young = { ...issuer, maxTokenAgeSeconds: 60 };
    expect(expiryOf(claims, young)).toBe(NOW + 50);
    expect(claimsError(claims, young, NOW + 110)).toBeUndefined();
    expect(claimsError(claims, young, NOW + 111)).toBe('iat is too long ago');
  });
});

describe('a configuration', () => {
  it('accepts every asymmetric algorithm, a key file or URL, and a maximum age', () => {
    const { jwksFile: _file, ...rest } = issuer;
    expect(() =>
      checkIssuers([
        { ...issuer, algorithms: ASYMMETRIC_ALGORITHMS, maxTokenAgeSeconds: 1 },
        { ...rest, issuer: 'https://other.example', jwksUri: 'https://other.example/jwks' },
      ]),
    ).not.toThrow();
    expect(ASYMMETRIC_ALGORITHMS.filter((alg) => !/^(RS|PS|ES)(256|384|512)$/.test(alg))).toEqual([
      'EdDSA',
      'Ed25519',
    ]);
    expect(ASYMMETRIC_ALGORITHMS).toHaveLength(11);
  });

  it.each<[string, IssuerConfig[]]>([
    ['No token issuer is configured.', []],
    ['An issuer is listed twice.', [issuer, issuer]],
    ['Token issuer "": issuer is empty.', [{ ...issuer, issuer: '' }]],
    ['audience is empty.', [{ ...issuer, audience: '' }]],
    ['give either jwksUri or jwksFile.', [{ ...issuer, jwksUri: 'https://idp.example/jwks' }]],
    ['give either jwksUri or jwksFile.', [{ ...issuer, jwksFile: '' }]],
    ['algorithms is empty.', [{ ...issuer, algorithms: [] }]],
    ['algorithm HS256 is not one of RS256, RS384,', [{ ...issuer, algorithms: ['RS256', 'HS256'] }]],
    ['maxTokenAgeSeconds is not a positive number.', [{ ...issuer, maxTokenAgeSeconds: 0 }]],
    ['maxTokenAgeSeconds is not a positive number.', [{ ...issuer, maxTokenAgeSeconds: -1 }]],
    ['maxTokenAgeSeconds is not a positive number.', [{ ...issuer, maxTokenAgeSeconds: Infinity }]],
  ])('is rejected: %s', (why, issuers) => {
    expect(() => checkIssuers(issuers)).toThrow(why);
  });
});
