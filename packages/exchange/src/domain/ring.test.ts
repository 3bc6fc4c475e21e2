/**
 * Tests the computation of a ring of duchies. The tests of its states use only one of the two Liquid Legions protocols,
 * because both go through the same states.
 */
import { packElGamalPublicKey } from '@measurement-exchange/consent';
import {
  ExchangeError,
  type LiquidLegionsConfig,
  type SetParametersRequest,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { describe, expect, it } from 'vitest';
import type { Aggregate, Change } from './aggregate.ts';
import { computationEtag, confirm, fulfillRequisition, giveUp, setResult } from './computation.ts';
import { cancel, create, fail } from './measurement.ts';
import { type ParametersInput, readKeys, setParameters } from './parameters.ts';
import { computationState, fulfillingDuchyOf } from './participants.ts';

const NOW = '2026-01-02T03:04:05.000000Z';
const LATER = '2026-01-02T03:04:06.000000Z';
const [ONE, TWO, THREE, LAST] = ['duchies/one', 'duchies/two', 'duchies/three', 'duchies/last'] as const;
const RING = [ONE, TWO, THREE, LAST];
const HASH = new Uint8Array(32).fill(7);
const PROTOCOL = 'reachOnlyLiquidLegionsV2';

const HIDING = { epsilon: 0.1, delta: 1e-9 };
const protocolConfig: LiquidLegionsConfig = {
  ...{ workers: [ONE, TWO, THREE], aggregator: LAST, noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 12, maxSize: 1000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};

const certificateOf = (party: string) => ({
  ...{ party, id: 'c', revocationState: undefined },
  ...{ notBefore: '2020-01-01T00:00:00.000000Z', notAfter: '2030-01-01T00:00:00.000000Z' },
});

function fresh(): Aggregate {
  const spec = { message: new Uint8Array([1]), signature: new Uint8Array([2]) };
  return create(
    measurementRecord({ spec, protocol: PROTOCOL, protocolConfig }),
    ['a', 'b'].map((p) => requisitionRecord(p, { nonceHash: HASH })),
    NOW,
  ).after;
}

const key = (text: string): SignedMessage => ({
  message: Buffer.from(text),
  signature: Buffer.from(`signed ${text}`),
});
const inputOf = (before: Aggregate, duchy: string): ParametersInput => ({
  etag: computationEtag(before),
  certificate: certificateOf(duchy),
  keys: { protocol: PROTOCOL, publicKey: key(duchy), elGamalPublicKey: key(`point of ${duchy}`) },
  signed: ['publicKey', 'elGamalPublicKey'],
});
const set = (before: Aggregate, duchy: string) => setParameters(before, duchy, inputOf(before, duchy), LATER);
function fulfill(before: Aggregate, i: number): Change {
  const { provider, id, fulfillingDuchy } = before.requisitions[i]!;
  const input = {
    ...{ etag: computationEtag(before), requisition: `${provider}/requisitions/${id}` },
    ...{ nonce: 1n, nonceHashes: [HASH], context: undefined },
  };
  return fulfillRequisition(before, fulfillingDuchy!, input, LATER);
}
const confirmBy = (before: Aggregate, duchy: string) =>
  confirm(before, duchy, { etag: computationEtag(before) }, LATER);
const finish = (before: Aggregate) =>
  setResult(
    before,
    LAST,
    {
      etag: computationEtag(before),
      certificate: certificateOf(LAST),
      encryptedResult: { ciphertext: new Uint8Array([9]), typeUrl: 'result' },
    },
    LATER,
  );

const ready = () => RING.reduce((before, duchy) => set(before, duchy).after, fresh());
const fulfilled = () => [0, 1].reduce((before, i) => fulfill(before, i).after, ready());
const partly = () => [ONE, LAST].reduce((before, duchy) => confirmBy(before, duchy).after, fulfilled());
const computing = () => [TWO, THREE].reduce((before, duchy) => confirmBy(before, duchy).after, partly());

const AT: Record<string, () => Aggregate> = {
  PENDING_PARAMS: fresh,
  PENDING_FULFILLMENT: ready,
  PENDING_CONFIRMATION: partly,
  COMPUTING: computing,
  SUCCEEDED: () => finish(computing()).after,
  FAILED: () => fail(fulfilled(), 'certificateRevoked', 'no', LATER).after,
  CANCELLED: () => cancel(partly(), LATER).after,
};

function outcome(run: () => Change): string {
  try {
    const change = run();
    return `${computationState(change.after)} ${change.steps.length}`;
  } catch (error) {
    if (!(error instanceof ExchangeError)) return `bug: ${error}`;
    return [error.reason, ...error.violations.map(({ field }) => field)].join(' ');
  }
}

const SHUT = 'COMPUTATION_STATE_ILLEGAL';
const triggers: Record<string, (a: Aggregate) => Change> = {
  parameters: (a) => set(a, TWO),
  fulfill: (a) => fulfill(a, 0),
  confirm: (a) => confirmBy(a, TWO),
  again: (a) => confirmBy(a, ONE),
  result: (a) => finish(a),
  fail: (a) => giveUp(a, TWO, { etag: computationEtag(a), code: 'STAGE_FAILED' as const }, LATER),
};

describe('the requests of duchies in a ring', () => {
  it.each([
    ['PENDING_PARAMS', ['PENDING_PARAMS 1', SHUT, SHUT, SHUT, SHUT, 'FAILED 4']],
    ['PENDING_FULFILLMENT', ['PENDING_FULFILLMENT 0', 'PENDING_FULFILLMENT 1', SHUT, SHUT, SHUT, 'FAILED 4']],
    [
      'PENDING_CONFIRMATION',
      [
        ...['PENDING_CONFIRMATION 0', 'PENDING_CONFIRMATION 0', 'PENDING_CONFIRMATION 1'],
        ...['PENDING_CONFIRMATION 0', SHUT, 'FAILED 2'],
      ],
    ],
    ['COMPUTING', ['COMPUTING 0', 'COMPUTING 0', 'COMPUTING 0', 'COMPUTING 0', 'SUCCEEDED 1', 'FAILED 2']],
    ['SUCCEEDED', ['SUCCEEDED 0', 'SUCCEEDED 0', 'SUCCEEDED 0', 'SUCCEEDED 0', 'SUCCEEDED 0', SHUT]],
    ['FAILED', ['FAILED 0', 'FAILED 0', SHUT, SHUT, SHUT, SHUT]],
    ['CANCELLED', ['CANCELLED 0', 'CANCELLED 0', SHUT, 'CANCELLED 0', SHUT, SHUT]],
  ])('have the expected outcomes in state %s', (state, expected) => {
    const aggregate = AT[state]!();
    expect(computationState(aggregate)).toBe(state);
    const outcomes = Object.entries(triggers).map(([name, run]) => [name, outcome(() => run(aggregate))]);
    expect(outcomes).toEqual(Object.keys(triggers).map((name, i) => [name, expected[i]]));
  });
});

describe('the computation of a ring', () => {
  it('has workers and an aggregator, and distributes requisitions evenly over the workers', () => {
    expect(fresh().participants.map(({ duchy, role }) => [duchy, role])).toEqual([
      [ONE, 'WORKER'],
      [TWO, 'WORKER'],
      [THREE, 'WORKER'],
      [LAST, 'AGGREGATOR'],
    ]);
    for (const { id, fulfillingDuchy } of fresh().requisitions) {
      expect(fulfillingDuchyOf({ protocolConfig }, id)).toBe(fulfillingDuchy);
    }
    const many = Array.from({ length: 1500 }, (_, i) => fulfillingDuchyOf({ protocolConfig }, `r${i}`));
    for (const duchy of [ONE, TWO, THREE]) {
      expect(Math.abs(many.filter((found) => found === duchy).length - 500)).toBeLessThan(90);
    }
    expect(many).not.toContain(LAST);
  });

  it('starts computing with the last confirmation, and logs each set of keys and each confirmation', () => {
    const steps = (change: Change) => change.steps.map((s) => [s.subject, s.cause, s.from, s.to, s.version]);
    expect(steps(set(fresh(), ONE))).toEqual([[ONE, 'keysSet', 'CREATED', 'PARAMS_SET', 2]]);
    expect(steps(confirmBy(fulfilled(), LAST))).toEqual([[LAST, 'confirmed', 'PARAMS_SET', 'READY', 3]]);
    const before = partly();
    const one = confirmBy(before, TWO);
    expect(computationState(one.after)).toBe('PENDING_CONFIRMATION');
    const all = confirmBy(one.after, THREE);
    expect(computationState(all.after)).toBe('COMPUTING');
    expect(all.after.measurement).toEqual(before.measurement);
    expect(computationEtag(all.after)).not.toBe(computationEtag(one.after));
  });

  it('rejects a confirmation with a stale etag, unless the duchy has already confirmed', () => {
    const stale = { etag: 'old' };
    expect(outcome(() => confirm(partly(), TWO, stale, LATER))).toBe('COMPUTATION_ETAG_MISMATCH');
    expect(outcome(() => confirm(partly(), ONE, stale, LATER))).toBe('PENDING_CONFIRMATION 0');
    expect(outcome(() => confirm(AT.CANCELLED!(), TWO, stale, LATER))).toBe(SHUT);
  });

  it('requires two signed keys from every duchy, for the right protocol', () => {
    const before = fresh();
    const attempt = (duchy: string, changes: Partial<ParametersInput>) =>
      outcome(() => setParameters(before, duchy, { ...inputOf(before, duchy), ...changes }, LATER));
    for (const duchy of [ONE, LAST]) {
      const { keys } = inputOf(before, duchy);
      expect(attempt(duchy, {})).toBe('PENDING_PARAMS 1');
      expect(attempt(duchy, { keys: { ...keys, publicKey: undefined } })).toBe(
        `INVALID_FIELD_VALUE ${PROTOCOL}.publicKey`,
      );
      expect(attempt(duchy, { keys: { ...keys, elGamalPublicKey: undefined } })).toBe(
        `INVALID_FIELD_VALUE ${PROTOCOL}.elGamalPublicKey`,
      );
      expect(attempt(duchy, { signed: ['publicKey'] })).toBe(
        `INVALID_FIELD_VALUE ${PROTOCOL}.elGamalPublicKey.signature`,
      );
      expect(attempt(duchy, { signed: ['elGamalPublicKey'] })).toBe(
        `INVALID_FIELD_VALUE ${PROTOCOL}.publicKey.signature`,
      );
      expect(attempt(duchy, { keys: { ...keys, protocol: 'liquidLegionsV2' } })).toBe(
        'INVALID_FIELD_VALUE liquidLegionsV2',
      );
    }
  });

  it('accepts the same keys again, but rejects other keys', () => {
    const before = set(fresh(), ONE).after;
    const input = inputOf(before, ONE);
    const other = { ...input.keys, elGamalPublicKey: key('another point') };
    expect(outcome(() => setParameters(before, ONE, { ...input, etag: 'old' }, LATER))).toBe(
      'PENDING_PARAMS 0',
    );
    expect(outcome(() => setParameters(before, ONE, { ...input, keys: other }, LATER))).toBe(SHUT);
  });
});

describe('the keys of a request', () => {
  const element = Buffer.from('036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296', 'hex');
  const publicKey = { message: new Uint8Array([8, 1, 18, 1, 1]), signature: new Uint8Array(1) };
  const elGamalPublicKey = {
    message: packElGamalPublicKey({ element, proof: new Uint8Array(65) }),
    signature: new Uint8Array(1),
  };
  const keys = { publicKey, elGamalPublicKey };
  const fault = (request: Partial<SetParametersRequest>) => {
    try {
      readKeys(request);
    } catch (error) {
      return (error as ExchangeError).violations.map(({ field }) => field).join();
    }
  };

  it('must be of exactly one protocol', () => {
    expect(readKeys({ liquidLegionsV2: keys })).toEqual({ protocol: 'liquidLegionsV2', ...keys });
    expect(readKeys({ honestMajorityShareShuffle: { publicKey } })).toMatchObject({ publicKey });
    expect(readKeys({}).protocol).toBeUndefined();
    expect(fault({ liquidLegionsV2: keys, reachOnlyLiquidLegionsV2: keys })).toBe('reachOnlyLiquidLegionsV2');
  });

  it.each<[string, Partial<typeof keys>, string]>([
    [
      'an invalid public key',
      { publicKey: { ...publicKey, message: Buffer.from('?') } },
      'publicKey.message',
    ],
    [
      'an invalid ElGamal key',
      { elGamalPublicKey: { ...elGamalPublicKey, message: Buffer.from('?') } },
      'elGamalPublicKey.message',
    ],
    [
      'an ElGamal key with another generator',
      { elGamalPublicKey: { ...elGamalPublicKey, message: elGamalPublicKey.message.with(6, 2) } },
      'elGamalPublicKey.message',
    ],
    [
      'an ElGamal key that is too long',
      { elGamalPublicKey: { ...elGamalPublicKey, message: new Uint8Array(1025) } },
      'elGamalPublicKey.message',
    ],
    [
      'a signature that is too long',
      { elGamalPublicKey: { ...elGamalPublicKey, signature: new Uint8Array(1025) } },
      'elGamalPublicKey.signature',
    ],
  ])('with %s are rejected', (_what, change, field) => {
    expect(fault({ liquidLegionsV2: { ...keys, ...change } as typeof keys })).toBe(
      `liquidLegionsV2.${field}`,
    );
  });
});
