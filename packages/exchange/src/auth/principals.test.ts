import { describe, expect, it } from 'vitest';
import { createPrincipalResolver, type PrincipalQuery, type PrincipalRecord } from './principals.ts';
import type { Verified } from './verified.ts';

const alice: Verified = { issuer: 'https://idp.example', subject: 'alice', expiresAt: 0 };
const bob: Verified = { ...alice, subject: 'bob' };
const claiming = (claimedPrincipal: string): Verified => ({ ...alice, claimedPrincipal });

const NOW = 1_700_000_000_000;

/**
 * Creates a resolver that finds principals in `records`, whose keys are subjects or party names. Records every lookup.
 */
function setUp(records: Record<string, PrincipalRecord>) {
  const state = { now: NOW, asked: [] as PrincipalQuery[], fail: false, records };
  const resolver = createPrincipalResolver({
    clock: () => state.now,
    async lookup(query) {
      state.asked.push(query);
      const found = state.records['name' in query ? query.name : query.subject];
      await new Promise(setImmediate);
      if (state.fail) throw new Error('no database');
      return found;
    },
  });
  const outcome = (token: Verified) =>
    resolver.resolve(token).then(
      (principal) => principal.name,
      (error) => error.reason ?? error.message,
    );
  return { state, resolver, outcome };
}

const acme: PrincipalRecord = { name: 'measurementConsumers/acme', state: 'ACTIVE' };
const chirper: PrincipalRecord = { name: 'dataProviders/chirper', state: 'SUSPENDED' };

describe('a principal', () => {
  it('is found by issuer and subject', async () => {
    const { resolver, state } = setUp({ alice: acme });
    expect(await resolver.resolve(alice)).toEqual({
      kind: 'measurementConsumer',
      id: 'acme',
      name: 'measurementConsumers/acme',
    });
    expect(state.asked).toEqual([{ issuer: 'https://idp.example', subject: 'alice' }]);
  });

  it('is found by the name that the token claims', async () => {
    const { outcome, state } = setUp({ 'measurementConsumers/acme': acme });
    expect(await outcome(claiming('measurementConsumers/acme'))).toBe('measurementConsumers/acme');
    expect(state.asked).toEqual([{ name: 'measurementConsumers/acme' }]);
  });

  it('is the operator without a lookup when the token claims so', async () => {
    const { outcome, state } = setUp({});
    expect(await outcome(claiming('operator'))).toBe('operator');
    expect(state.asked).toEqual([]);
  });

  it('is the operator if the subject is bound to the operator', async () => {
    expect(await setUp({ alice: { name: 'operator', state: 'ACTIVE' } }).outcome(alice)).toBe('operator');
  });

  it('is unknown without a binding', async () => {
    expect(await setUp({ alice: acme }).outcome(bob)).toBe('PRINCIPAL_UNKNOWN');
  });

  it('is unknown when its binding does not name a principal', async () => {
    const { outcome } = setUp({ alice: { name: 'principals/p', state: 'ACTIVE' } });
    expect(await outcome(alice)).toBe('PRINCIPAL_UNKNOWN');
  });

  it('is unknown when the claimed party does not exist, even if the subject is bound', async () => {
    expect(await setUp({ alice: acme }).outcome(claiming('dataProviders/nobody'))).toBe('PRINCIPAL_UNKNOWN');
  });

  it.each(['', 'Operator', 'dataProviders/', 'dataProviders/-', 'dataProviders/a/b', 'x/y'])(
    'is unknown when the claim is %j, without a lookup',
    async (claim) => {
      const { outcome, state } = setUp({ alice: acme, [claim]: acme });
      expect(await outcome(claiming(claim))).toBe('PRINCIPAL_UNKNOWN');
      expect(state.asked).toEqual([]);
    },
  );

  it('is rejected while it is suspended', async () => {
    expect(await setUp({ alice: chirper }).outcome(alice)).toBe('PRINCIPAL_SUSPENDED');
  });
});

describe('a lookup result', () => {
  it('is cached for 30 s', async () => {
    const { outcome, state } = setUp({ alice: acme });
    await outcome(alice);
    state.records.alice = chirper;
    state.now = NOW + 30_000;
    expect(await outcome(alice)).toBe('measurementConsumers/acme');
    state.now = NOW + 30_001;
    expect(await outcome(alice)).toBe('PRINCIPAL_SUSPENDED');
    expect(state.asked).toHaveLength(2);
  });

  it('is cached even if no principal was found', async () => {
    const { outcome, state } = setUp({});
    for (let i = 0; i < 3; i++) expect(await outcome(alice)).toBe('PRINCIPAL_UNKNOWN');
    expect(state.asked).toHaveLength(1);
  });

  it('is fetched once for concurrent callers', async () => {
    const { outcome, state } = setUp({ alice: acme });
    const all = await Promise.all(Array.from({ length: 20 }, () => outcome(alice)));
    expect(new Set(all)).toEqual(new Set(['measurementConsumers/acme']));
    expect(state.asked).toHaveLength(1);
  });

  it('stays cached if a lookup from before an invalidation fails later', async () => {
    const { outcome, state, resolver } = setUp({ alice: acme });
    state.fail = true;
    const failing = outcome(alice);
    resolver.invalidate();
    state.fail = false;
    const [, found] = await Promise.all([failing, outcome(alice)]);
    expect(found).toBe('measurementConsumers/acme');
    await outcome(alice);
    expect(state.asked).toHaveLength(2);
  });

  it('is not cached after a failure: the next caller retries', async () => {
    const { outcome, state } = setUp({ alice: acme });
    state.fail = true;
    expect(await outcome(alice)).toBe('no database');
    state.fail = false;
    expect(await outcome(alice)).toBe('measurementConsumers/acme');
  });

  it('is invalidated on demand, also while a lookup is in progress', async () => {
    const { outcome, state, resolver } = setUp({ alice: acme });
    const underWay = outcome(alice);
    state.records.alice = chirper;
    resolver.invalidate();
    expect(await underWay).toBe('measurementConsumers/acme');
    expect(await outcome(alice)).toBe('PRINCIPAL_SUSPENDED');
  });

  it('is returned by recall for the same token until 30 s after the lookup', async () => {
    const { outcome, state, resolver } = setUp({ alice: acme });
    expect(resolver.recall(alice)).toBeUndefined();
    await outcome({ ...alice });
    state.now = NOW + 20_000;
    await outcome(alice);
    expect(resolver.recall(alice)?.name).toBe('measurementConsumers/acme');
    state.now = NOW + 30_001;
    expect(resolver.recall(alice)).toBeUndefined();
  });

  it('is not returned by recall after an invalidation, even from a lookup that started before it', async () => {
    const { outcome, resolver } = setUp({ alice: acme, bob: acme });
    await outcome(alice);
    const underWay = outcome(bob);
    resolver.invalidate();
    await underWay;
    expect([resolver.recall(alice), resolver.recall(bob)]).toEqual([undefined, undefined]);
  });

  it('is not returned by recall for a suspended or unknown principal', async () => {
    const { outcome, resolver } = setUp({ alice: chirper });
    await Promise.all([outcome(alice), outcome(bob)]);
    expect([resolver.recall(alice), resolver.recall(bob)]).toEqual([undefined, undefined]);
  });
});
