import { ExchangeError, type SignedMessage } from '@measurement-exchange/contract';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { describe, expect, it } from 'vitest';
import type { Aggregate, Change } from './aggregate.ts';
import {
  computationEtag,
  confirm,
  fulfillRequisition,
  giveUp,
  requireOpenComputation,
  setResult,
} from './computation.ts';
import { cancel, create } from './measurement.ts';
import { setParameters } from './parameters.ts';
import { computationState, fulfillingDuchyOf } from './participants.ts';

const NOW = '2026-01-02T03:04:05.000000Z';
const LATER = '2026-01-02T03:04:06.000000Z';
const [FIRST, SECOND, AGGREGATOR] = ['duchies/first', 'duchies/second', 'duchies/aggregator'] as const;
const HASH = new Uint8Array(32).fill(7);

const protocolConfig = {
  firstWorker: FIRST,
  secondWorker: SECOND,
  aggregator: AGGREGATOR,
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  ringModulus: 127,
  population: 'populations/p',
  populationFingerprint: '',
} as const;

const certificateOf = (party: string) => ({
  party,
  id: 'c',
  notBefore: '2020-01-01T00:00:00.000000Z',
  notAfter: '2030-01-01T00:00:00.000000Z',
  revocationState: undefined,
});

function fresh(): Aggregate {
  return create(
    measurementRecord({ protocol: 'honestMajorityShareShuffle', protocolConfig }),
    ['a', 'b'].map((p) => requisitionRecord(p, { nonceHash: HASH })),
    NOW,
  ).after;
}

const keyOf = (duchy: string): SignedMessage => ({
  message: Buffer.from(duchy),
  signature: Buffer.from(`signed ${duchy}`),
});
const encryptedResult = { ciphertext: new Uint8Array([9]), typeUrl: 'result' };

const set = (before: Aggregate, duchy: string) =>
  setParameters(
    before,
    duchy,
    {
      etag: computationEtag(before),
      certificate: certificateOf(duchy),
      keys: { protocol: 'honestMajorityShareShuffle', publicKey: keyOf(duchy), elGamalPublicKey: undefined },
      signed: ['publicKey'],
    },
    LATER,
  );
const fulfill = (before: Aggregate, i: number, duchy = before.requisitions[i]!.fulfillingDuchy!) =>
  fulfillRequisition(
    before,
    duchy,
    {
      etag: computationEtag(before),
      requisition: `${before.requisitions[i]!.provider}/requisitions/${before.requisitions[i]!.id}`,
      nonce: 1n,
      nonceHashes: [HASH],
      context: undefined,
    },
    LATER,
  );
const finish = (before: Aggregate) =>
  setResult(
    before,
    AGGREGATOR,
    { etag: computationEtag(before), certificate: certificateOf(AGGREGATOR), encryptedResult },
    LATER,
  );

const ready = () => [FIRST, SECOND, AGGREGATOR].reduce((before, duchy) => set(before, duchy).after, fresh());
const computing = () => [0, 1].reduce((before, i) => fulfill(before, i).after, ready());

const AT: Record<string, () => Aggregate> = {
  PENDING_PARAMS: fresh,
  PENDING_FULFILLMENT: ready,
  COMPUTING: computing,
  SUCCEEDED: () => finish(computing()).after,
  FAILED: () =>
    giveUp(fresh(), FIRST, { etag: computationEtag(fresh()), code: 'STAGE_FAILED' as const }, LATER).after,
  CANCELLED: () => cancel(ready(), LATER).after,
};

function outcome(run: () => Change | undefined): string {
  try {
    const change = run();
    return change === undefined ? 'OK' : `${computationState(change.after)} ${change.steps.length}`;
  } catch (error) {
    return error instanceof ExchangeError ? error.reason : `bug: ${error}`;
  }
}

const SHUT = 'COMPUTATION_STATE_ILLEGAL';
/**
 * Each trigger makes one request. The number in an outcome is the number of steps that the request adds to the log. A
 * repeated request either fails or adds no step.
 */
const triggers: Record<string, (a: Aggregate) => Change | undefined> = {
  parameters: (a) => set(a, SECOND),
  fulfill: (a) => fulfill(a, 0),
  result: (a) => finish(a),
  fail: (a) => giveUp(a, SECOND, { etag: computationEtag(a), code: 'STAGE_FAILED' as const }, LATER),
  confirm: (a) => confirm(a, FIRST, { etag: computationEtag(a) }, LATER),
  log: (a) => {
    requireOpenComputation(a, FIRST);
    return undefined;
  },
};

describe('the requests of duchies', () => {
  it.each([
    [
      'PENDING_PARAMS',
      {
        parameters: 'PENDING_PARAMS 1',
        fulfill: SHUT,
        result: SHUT,
        fail: 'FAILED 4',
        confirm: SHUT,
        log: 'OK',
      },
    ],
    [
      'PENDING_FULFILLMENT',
      {
        parameters: 'PENDING_FULFILLMENT 0',
        fulfill: 'PENDING_FULFILLMENT 1',
        result: SHUT,
        fail: 'FAILED 4',
        confirm: SHUT,
        log: 'OK',
      },
    ],
    [
      'COMPUTING',
      {
        parameters: 'COMPUTING 0',
        fulfill: 'COMPUTING 0',
        result: 'SUCCEEDED 1',
        fail: 'FAILED 2',
        confirm: SHUT,
        log: 'OK',
      },
    ],
    [
      'SUCCEEDED',
      {
        parameters: 'SUCCEEDED 0',
        fulfill: 'SUCCEEDED 0',
        result: 'SUCCEEDED 0',
        fail: SHUT,
        confirm: SHUT,
        log: SHUT,
      },
    ],
    ['FAILED', { parameters: SHUT, fulfill: SHUT, result: SHUT, fail: SHUT, confirm: SHUT, log: SHUT }],
    [
      'CANCELLED',
      {
        parameters: 'CANCELLED 0',
        fulfill: SHUT,
        result: SHUT,
        fail: SHUT,
        confirm: SHUT,
        log: SHUT,
      },
    ],
  ])('have the expected outcomes in state %s', (state, expected) => {
    const aggregate = AT[state]!();
    expect(computationState(aggregate)).toBe(state);
    const outcomes = Object.entries(triggers).map(([name, run]) => [name, outcome(() => run(aggregate))]);
    expect(Object.fromEntries(outcomes)).toEqual(expected);
  });
});

describe('a computation', () => {
  it('has one participant of each role, and every requisition goes to a worker', () => {
    const { participants, requisitions } = fresh();
    expect(participants.map(({ duchy, role }) => [duchy, role])).toEqual([
      [FIRST, 'FIRST_WORKER'],
      [SECOND, 'SECOND_WORKER'],
      [AGGREGATOR, 'AGGREGATOR'],
    ]);
    for (const { id, fulfillingDuchy } of requisitions) {
      expect([FIRST, SECOND]).toContain(fulfillingDuchy);
      expect(fulfillingDuchyOf({ protocolConfig }, id)).toBe(fulfillingDuchy);
    }
    const many = Array.from({ length: 1000 }, (_, i) => fulfillingDuchyOf({ protocolConfig }, `r${i}`));
    expect(Math.abs(many.filter((duchy) => duchy === FIRST).length - 500)).toBeLessThan(80);
    expect(fulfillingDuchyOf({ protocolConfig: undefined }, 'r')).toBeUndefined();
  });

  it('logs each duchy that sets parameters, and then a new version of each requisition', () => {
    const one = set(fresh(), FIRST);
    expect(one.steps.map((s) => [s.subject, s.cause, s.from, s.to, s.version])).toEqual([
      [FIRST, 'parametersSet', 'CREATED', 'READY', 2],
    ]);
    expect(one.after.requisitions).toEqual(fresh().requisitions);
    const two = set(set(one.after, AGGREGATOR).after, SECOND);
    expect(two.steps.map((s) => [s.subject, s.cause, s.from, s.to, s.version])).toEqual([
      [SECOND, 'parametersSet', 'CREATED', 'READY', 2],
      ['ra', 'parametersSet', 'UNFULFILLED', 'UNFULFILLED', 2],
      ['rb', 'parametersSet', 'UNFULFILLED', 'UNFULFILLED', 2],
    ]);
  });

  it('gets a new etag after every change', () => {
    const chain = [fresh()];
    const next = (change: (a: Aggregate) => Change) => chain.push(change(chain.at(-1)!).after);
    for (const duchy of [FIRST, SECOND, AGGREGATOR]) next((a) => set(a, duchy));
    for (const i of [0, 1]) next((a) => fulfill(a, i));
    next(finish);
    expect(new Set(chain.map(computationEtag)).size).toBe(chain.length);
    const times = chain.map(({ participants }) => participants[0]!.updateTime);
    expect(new Set(times).size).toBe(chain.length);
    for (const { participants } of chain) {
      expect(new Set(participants.map(({ updateTime }) => updateTime)).size).toBe(1);
    }
  });

  it('rejects a stale etag, but checks first whether it has ended or the request is a repetition', () => {
    const stale = { etag: 'old', code: 'STAGE_FAILED' as const };
    expect(outcome(() => giveUp(fresh(), FIRST, stale, LATER))).toBe('COMPUTATION_ETAG_MISMATCH');
    expect(outcome(() => giveUp(AT.CANCELLED!(), FIRST, stale, LATER))).toBe(SHUT);
    const failed = giveUp(
      fresh(),
      FIRST,
      { etag: computationEtag(fresh()), code: 'STAGE_FAILED' as const },
      LATER,
    ).after;
    expect(outcome(() => giveUp(failed, FIRST, stale, LATER))).toBe('FAILED 0');
    expect(outcome(() => giveUp(failed, SECOND, stale, LATER))).toBe(SHUT);
  });

  it('rejects a result of a worker, a second result, and a fulfillment by the wrong duchy', () => {
    const running = computing();
    const input = {
      etag: computationEtag(running),
      certificate: certificateOf(FIRST),
      encryptedResult,
    };
    expect(outcome(() => setResult(running, FIRST, input, LATER))).toBe(SHUT);
    const done = finish(running).after;
    const other = { ...encryptedResult, ciphertext: new Uint8Array([8]) };
    const second = { etag: computationEtag(done), certificate: certificateOf(AGGREGATOR) };
    expect(outcome(() => setResult(done, AGGREGATOR, { ...second, encryptedResult: other }, LATER))).toBe(
      SHUT,
    );
    const before = ready();
    const { fulfillingDuchy } = before.requisitions[0]!;
    for (const duchy of [FIRST, SECOND, AGGREGATOR]) {
      if (duchy !== fulfillingDuchy) expect(outcome(() => fulfill(before, 0, duchy))).toBe(SHUT);
    }
  });

  it('requires a signed key from a worker, and no key from the aggregator', () => {
    const before = fresh();
    const none = { protocol: undefined, publicKey: undefined, elGamalPublicKey: undefined };
    const input = { etag: computationEtag(before), keys: none, signed: [] };
    const attempt = (duchy: string, changes: object = {}) =>
      outcome(() =>
        setParameters(before, duchy, { ...input, certificate: certificateOf(duchy), ...changes }, LATER),
      );
    expect(attempt(AGGREGATOR)).toBe('PENDING_PARAMS 1');
    expect(attempt(FIRST)).toBe('INVALID_FIELD_VALUE');
    for (const duchy of [FIRST, AGGREGATOR]) {
      expect(attempt(duchy, { keys: { ...none, publicKey: keyOf(duchy) } })).toBe('INVALID_FIELD_VALUE');
    }
    expect(attempt(AGGREGATOR, { certificate: undefined })).toBe('CERTIFICATE_NOT_FOUND');
    const revoked = { ...certificateOf(AGGREGATOR), revocationState: 'REVOKED' };
    expect(attempt(AGGREGATOR, { certificate: revoked })).toBe('CERTIFICATE_IS_INVALID');
  });
});
