import { ExchangeError, matchRoute } from '@measurement-exchange/contract';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Permit, unacceptable } from '../auth/verified.ts';
import type { Principal } from '../operations/index.ts';
import type { Credentials } from './credentials.ts';
import { Identifier } from './identify.ts';

const ACME = { kind: 'measurementConsumer', id: 'acme', name: 'measurementConsumers/acme' } as const;
const NAT = '192.0.2.1';

/**
 * Sets up an `Identifier` for tokens of the form `<subject>.<good or forged>`. A subject becomes known with its first
 * good token.
 */
function setUp() {
  const known = new Set<string>();
  const counts = { signatures: 0, lookups: 0 };
  let principal: () => Principal = () => ACME;
  const ofKind = <C>(kind: string, textOf: (credentials: C) => string) => ({
    async verify(credentials: C, permit?: Permit) {
      permit!(undefined);
      counts.signatures += 1;
      if (textOf(credentials) !== 'good') throw unacceptable(`the ${kind} is bad`);
      return { issuer: kind, subject: 'acme', expiresAt: 0, claimedPrincipal: ACME.name };
    },
    recall: (credentials: C) =>
      textOf(credentials) === 'recent' ? { issuer: kind, subject: 'acme', expiresAt: 0 } : undefined,
  });
  const identifier = new Identifier({
    apiKeys: ofKind('key', (key: string) => key),
    clientCertificates: ofKind('certificate', (der: Uint8Array) => Buffer.from(der).toString()),
    tokens: {
      async verify(token: string, permit?: Permit) {
        const [subject = '', signature] = token.split('.');
        if (signature === undefined) throw new ExchangeError('TOKEN_INVALID', 'junk');
        permit!(known.has(subject) ? subject : undefined);
        counts.signatures += 1;
        if (signature !== 'good') throw new ExchangeError('TOKEN_INVALID', 'forged');
        known.add(subject);
        return { issuer: 'https://idp.example', subject, expiresAt: 0 };
      },
      recall: (token) =>
        token === 'acme.good' && known.has('acme')
          ? { issuer: 'https://idp.example', subject: 'acme', expiresAt: 0 }
          : undefined,
    },
    principals: {
      async resolve({ subject }) {
        counts.lookups += 1;
        if (subject === 'stranger') throw new ExchangeError('PRINCIPAL_UNKNOWN', 'unknown');
        return principal();
      },
      recall: ({ subject }) => (subject === 'acme' ? ACME : undefined),
      invalidate() {},
    },
    strangerRate: { perSecond: 1, burst: 5 },
  });
  const outcome = (token: string, address = NAT) =>
    identifier.identify({ kind: 'bearer', token, address }).then(
      ({ principal }) => principal.name,
      (error) => error.reason as string,
    );
  const flood = async (token: string, count = 1_000) => {
    const began = performance.now();
    for (let i = 0; i < count; i++) await outcome(token);
    return (performance.now() - began) / 1000;
  };
  const answer = (other: () => Principal) => {
    principal = other;
  };
  return { counts, outcome, flood, identifier, answer };
}

afterEach(() => vi.useRealTimers());

it('limits the signature checks of an address that sends many forged tokens', async () => {
  const { counts, flood } = setUp();
  const seconds = await flood('nobody.forged');
  expect(counts.signatures).toBeGreaterThanOrEqual(200);
  expect(counts.signatures).toBeLessThanOrEqual(201 + 50 * seconds);
});

it('limits the additional signature checks of forged tokens of a known subject', async () => {
  const { counts, outcome, flood } = setUp();
  expect(await outcome('acme.good')).toBe(ACME.name);
  const seconds = (await flood('nobody.forged')) + (await flood('acme.forged'));
  expect(counts.signatures).toBeLessThanOrEqual(213 + 51 * seconds);
});

it('accepts a new token of a known subject while its address sends forged tokens', async () => {
  // Use fake timers, so that the rate limits do not recover on a slow machine.
  vi.useFakeTimers({ toFake: ['performance'] });
  const { outcome, flood } = setUp();
  await outcome('acme.good');
  await flood('nobody.forged');
  expect(await outcome('nobody.forged')).toBe('RATE_LIMITED');
  expect(await outcome('acme.good')).toBe(ACME.name);
  // Forged tokens that name a subject and come from one address do not block the subject at another address.
  await flood('acme.forged');
  expect(await outcome('acme.good', '192.0.2.2')).toBe(ACME.name);
});

it('accepts a token of a new subject while its address sends malformed tokens, which are rate limited', async () => {
  const { outcome, flood } = setUp();
  await flood('junk');
  expect([await outcome('junk'), await outcome('junk')]).toContain('RATE_LIMITED');
  expect(await outcome('newcomer.good')).toBe(ACME.name);
});

it('rate limits a subject without a principal, but no other subject', async () => {
  const { outcome } = setUp();
  const outcomes = [];
  for (let i = 0; i < 6; i++) outcomes.push(await outcome('stranger.good'));
  expect(outcomes).toEqual([...Array(5).fill('PRINCIPAL_UNKNOWN'), 'RATE_LIMITED']);
  expect(await outcome('acme.good')).toBe(ACME.name);
});

it('recalls a caller only if it was identified', async () => {
  const { identifier, outcome } = setUp();
  const recall = (token: string) =>
    identifier.recall({ kind: 'bearer', token, address: NAT })?.principal.name;
  expect(recall('acme.good')).toBeUndefined();
  await outcome('acme.good');
  expect(recall('acme.good')).toBe(ACME.name);
  expect(recall('acme.forged')).toBeUndefined();
  expect(identifier.recall({ kind: 'none', why: 'no header', address: NAT })).toBeUndefined();
});

it('rejects a caller without credentials like one with a bad token', async () => {
  const { identifier } = setUp();
  await expect(identifier.identify({ kind: 'none', why: 'no header', address: NAT })).rejects.toMatchObject({
    reason: 'TOKEN_INVALID',
    cause: 'no header',
  });
});

it('reports whether a caller is still authorized, and assumes so if the principal cannot be looked up', async () => {
  const { identifier, answer } = setUp();
  const match = matchRoute('GET', `/v2alpha/${ACME.name}/changes:watch`);
  const isStill = (token = 'reader.good') =>
    identifier.isStillAuthorized({ kind: 'bearer', token, address: NAT }, match);
  expect([await isStill(), await isStill('junk')]).toEqual([true, false]);
  answer(() => ({ kind: 'measurementConsumer', id: 'b', name: 'measurementConsumers/b' }));
  expect(await isStill()).toBe(false);
  for (const [reason, expected] of [
    ['UNAVAILABLE', true],
    ['PRINCIPAL_UNKNOWN', false],
    ['PRINCIPAL_SUSPENDED', false],
    ...Array.from({ length: 6 }, () => ['PRINCIPAL_SUSPENDED', false] as const),
  ] as const) {
    answer(() => {
      throw new ExchangeError(reason, 'No.');
    });
    expect(await isStill()).toBe(expected);
  }
});

describe.each([
  ['key', (text: string): Credentials => ({ kind: 'apiKey', key: text, address: NAT })],
  [
    'certificate',
    (text: string): Credentials => ({ kind: 'certificate', x509Der: Buffer.from(text), address: NAT }),
  ],
])('a caller with a %s', (kind, credentials) => {
  it('is identified, and recalled without a promise', async () => {
    const { identifier } = setUp();
    const { verified, principal } = await identifier.identify(credentials('good'));
    expect([verified.issuer, principal]).toEqual([kind, ACME]);
    expect(identifier.recall(credentials('recent'))?.verified.issuer).toBe(kind);
    expect(identifier.recall(credentials('good'))).toBeUndefined();
  });

  it('is rejected with the same error as every caller with bad credentials', async () => {
    const { identifier } = setUp();
    const error = await identifier.identify(credentials('bad')).catch((e) => e);
    expect(error.toJSON()).toEqual(unacceptable('another reason').toJSON());
    expect(error.cause).toBe(`the ${kind} is bad`);
  });

  it('is rate limited after 200 bad credentials of its address', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { identifier, counts } = setUp();
    const reasons: string[] = [];
    for (let i = 0; i < 300; i++) {
      await identifier.identify(credentials('bad')).catch((error) => reasons.push(error.reason));
    }
    expect(counts.signatures).toBe(200);
    expect(new Set(reasons.slice(0, 200))).toEqual(new Set(['TOKEN_INVALID']));
    expect(new Set(reasons.slice(200))).toEqual(new Set(['RATE_LIMITED']));
  });
});
