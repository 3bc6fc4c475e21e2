import { describe, expect, it } from 'vitest';
import type { Aggregate } from './aggregate.ts';
import { expireComputation, type Report, type WaitingState } from './deadlines.ts';
import { create } from './measurement.ts';
import type { StoredShareShuffleConfig } from './protocol.ts';

const NOW = '2026-01-02T03:04:05.000000Z';
const [FIRST, SECOND, AGGREGATOR] = ['duchies/first', 'duchies/second', 'duchies/aggregator'] as const;
const DEADLINES = { parametersWithinHours: 1, fulfillWithinHours: 336, computeWithinHours: 24 };

function measurement(providers = 2): Aggregate {
  const protocolConfig: StoredShareShuffleConfig = {
    ...{ firstWorker: FIRST, secondWorker: SECOND, aggregator: AGGREGATOR },
    noiseMechanism: 'DISCRETE_GAUSSIAN',
    ...{ ringModulus: 127, population: 'populations/p', populationFingerprint: '' },
  };
  const message = { message: new Uint8Array(1), signature: new Uint8Array(1) };
  return create(
    {
      ...{ id: 'm', consumer: 'measurementConsumers/x', certificate: 'c', spec: message, labels: {} },
      ...{ measurementType: 'REACH', protocol: 'honestMajorityShareShuffle', protocolConfig },
    },
    Array.from({ length: providers }, (_, i) => ({
      ...{ id: `r${i}`, provider: `dataProviders/p${i}`, certificate: 'c' },
      publicKey: { '@type': 't', data: new Uint8Array(1) },
      encryptedSpec: { ciphertext: new Uint8Array(1), typeUrl: 't' },
      nonceHash: new Uint8Array(32),
    })),
    NOW,
  ).after;
}

function failureOf(state: WaitingState, before = measurement(), reports: Report[] = []) {
  return expireComputation(before, state, reports, DEADLINES, NOW).after.measurement.failure;
}

describe('a computation that is overdue says for whom it waited:', () => {
  it('the duchies without parameters', () => {
    const before = measurement();
    before.participants[0]!.parameters = { certificate: 'c', publicKey: undefined };
    expect(failureOf('PENDING_PARAMS', before)).toEqual({
      reason: 'COMPUTATION_PARTICIPANT_FAILED',
      message: `${SECOND}, ${AGGREGATOR} set no parameters within 1 h of the creation.`,
    });
  });

  it('the data providers without data, and where it should have gone', () => {
    const before = measurement(3);
    before.requisitions[1]!.state = 'FULFILLED';
    const [first, , third] = before.requisitions;
    expect(failureOf('PENDING_FULFILLMENT', before)!.message).toBe(
      `No data came from dataProviders/p0 (to ${first!.fulfillingDuchy}), ` +
        `dataProviders/p2 (to ${third!.fulfillingDuchy}) within 14 days of the creation.`,
    );
  });

  it('of many data providers some, in a message that fits', () => {
    const { message } = failureOf('PENDING_FULFILLMENT', measurement(126))!;
    expect(message).toMatch(/p9 \(to \S+\) and 116 others within 14 days/);
  });

  const setUp = { stage: 'SETUP_PHASE', attempt: 1, progress: 1 };
  const shuffled = { stage: 'SHUFFLE_PHASE', attempt: 2, progress: 1 };
  const ready = { stage: 'INITIALIZED', attempt: 1, progress: 1 };
  const nothing = 'which reported nothing';
  it.each<[late: string, reports: (Omit<Report, 'duchy'> | undefined)[]]>([
    [`${FIRST}, ${nothing}`, [undefined, undefined, undefined]],
    [`${FIRST}, whose last report is INITIALIZED, attempt 1, done`, [ready, ready, ready]],
    [`${SECOND}, whose last report is INITIALIZED, attempt 1, done`, [setUp, ready, ready]],
    [
      `${SECOND}, whose last report is SETUP_PHASE, attempt 3, not done`,
      [setUp, { stage: 'SETUP_PHASE', attempt: 3 }, ready],
    ],
    [
      `${FIRST}, whose last report is SETUP_PHASE, attempt 1, done; ` +
        `${SECOND}, whose last report is SHUFFLE_PHASE, attempt 2, not done`,
      [setUp, { stage: 'SHUFFLE_PHASE', attempt: 2, progress: 0.5 }, undefined],
    ],
    [`${FIRST}, whose last report is SETUP_PHASE, attempt 1, done`, [setUp, shuffled, undefined]],
    [`${AGGREGATOR}, ${nothing}`, [shuffled, shuffled, undefined]],
    [
      `${AGGREGATOR}, whose last report is AGGREGATION_PHASE, attempt 9, done`,
      [shuffled, shuffled, { stage: 'AGGREGATION_PHASE', attempt: 9, progress: 1 }],
    ],
  ])('%s', (late, reports) => {
    const named = reports.flatMap((report, i) =>
      report ? [{ duchy: [FIRST, SECOND, AGGREGATOR][i]!, ...report }] : [],
    );
    expect(failureOf('COMPUTING', computing(), named)!.message).toBe(
      `No result came within 24 h of the last fulfillment: it waited for ${late}.`,
    );
  });

  function computing(): Aggregate {
    const { measurement: m, requisitions, participants } = measurement();
    return { measurement: { ...m, state: 'COMPUTING' }, requisitions, participants };
  }
});
