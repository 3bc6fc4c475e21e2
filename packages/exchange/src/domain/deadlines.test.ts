import type { Protocol } from '@measurement-exchange/contract';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { describe, expect, it } from 'vitest';
import type { Aggregate } from './aggregate.ts';
import { expireComputation, type Report, type WaitingState } from './deadlines.ts';
import { create } from './measurement.ts';
import type { StoredProtocolConfig, StoredShareShuffleConfig } from './protocolConfig.ts';

const NOW = '2026-01-02T03:04:05.000000Z';
const [FIRST, SECOND, AGGREGATOR] = ['duchies/first', 'duchies/second', 'duchies/aggregator'] as const;
const DEADLINES = {
  ...{ parametersWithinHours: 1, fulfillWithinHours: 336 },
  ...{ confirmWithinHours: 2, computeWithinHours: 24 },
};

const SHUFFLE: StoredShareShuffleConfig = {
  ...{ firstWorker: FIRST, secondWorker: SECOND, aggregator: AGGREGATOR },
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  ...{ ringModulus: 127, population: 'populations/p', populationFingerprint: '' },
};
const HIDING = { epsilon: 0.1, delta: 1e-9 };
const RING: StoredProtocolConfig = {
  ...{ workers: [SECOND, FIRST], aggregator: AGGREGATOR, noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 12, maxSize: 1000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};

function measurement(
  providers = 2,
  protocol: Protocol = 'honestMajorityShareShuffle',
  protocolConfig: StoredProtocolConfig = SHUFFLE,
): Aggregate {
  const message = { message: new Uint8Array(1), signature: new Uint8Array(1) };
  return create(
    measurementRecord({ consumer: 'measurementConsumers/x', spec: message, protocol, protocolConfig }),
    Array.from({ length: providers }, (_, i) => requisitionRecord(`p${i}`, { id: `r${i}` })),
    NOW,
  ).after;
}

function failureOf(state: WaitingState, before = measurement(), reports: Report[] = []) {
  return expireComputation(before, state, reports, DEADLINES, NOW).after.measurement.failure;
}

describe('the failure message of an overdue computation', () => {
  it('names the duchies without parameters', () => {
    const before = measurement();
    before.participants[0]!.parameters = {
      ...{ certificate: 'c', publicKey: undefined, elGamalPublicKey: undefined },
    };
    expect(failureOf('PENDING_PARAMS', before)).toEqual({
      reason: 'COMPUTATION_PARTICIPANT_FAILED',
      message: `${SECOND}, ${AGGREGATOR} set no parameters within 1 h of the creation.`,
    });
  });

  it('names the data providers without data, and the duchies that should have received it', () => {
    const before = measurement(3);
    before.requisitions[1]!.state = 'FULFILLED';
    const [first, , third] = before.requisitions;
    expect(failureOf('PENDING_FULFILLMENT', before)!.message).toBe(
      `No data came from dataProviders/p0 (to ${first!.fulfillingDuchy}), ` +
        `dataProviders/p2 (to ${third!.fulfillingDuchy}) within 14 days of the creation.`,
    );
  });

  it('names only some of many data providers', () => {
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
  ])('names %s', (late, reports) => {
    const named = reports.flatMap((report, i) =>
      report ? [{ duchy: [FIRST, SECOND, AGGREGATOR][i]!, ...report }] : [],
    );
    expect(failureOf('COMPUTING', computing(), named)!.message).toBe(
      `No result came within 24 h of the last fulfillment: it waited for ${late}.`,
    );
  });

  it('names the duchies that have not confirmed', () => {
    const before = measurement(2, 'liquidLegionsV2', RING);
    for (const participant of before.participants) participant.state = 'PARAMS_SET';
    before.participants[1]!.state = 'READY';
    expect(failureOf('PENDING_CONFIRMATION', before)!.message).toBe(
      `${SECOND}, ${AGGREGATOR} did not confirm within 2 h of the last fulfillment or confirmation.`,
    );
  });

  const done = (stage: string) => ({ stage, attempt: 1, progress: 1 });
  const last = (stage: string) => `whose last report is ${stage}, attempt 1, done`;
  it.each<[late: string, reports: (Omit<Report, 'duchy'> | undefined)[]]>([
    [`${SECOND}, ${nothing}; ${FIRST}, ${nothing}`, [undefined, undefined, undefined]],
    [`${SECOND}, ${nothing}`, [done('SETUP_PHASE'), undefined, undefined]],
    [`${AGGREGATOR}, ${nothing}`, [done('SETUP_PHASE'), done('SETUP_PHASE'), undefined]],
    [`${SECOND}, ${last('SETUP_PHASE')}`, [done('SETUP_PHASE'), done('SETUP_PHASE'), done('SETUP_PHASE')]],
    [
      `${FIRST}, ${last('SETUP_PHASE')}`,
      [done('SETUP_PHASE'), done('EXECUTION_PHASE_ONE'), done('SETUP_PHASE')],
    ],
    [
      `${AGGREGATOR}, ${last('EXECUTION_PHASE_ONE')}`,
      [done('EXECUTION_PHASE_TWO'), done('EXECUTION_PHASE_TWO'), done('EXECUTION_PHASE_ONE')],
    ],
    [
      `${AGGREGATOR}, ${last('EXECUTION_PHASE_THREE')}`,
      [done('EXECUTION_PHASE_THREE'), done('EXECUTION_PHASE_THREE'), done('EXECUTION_PHASE_THREE')],
    ],
  ])('of a ring names %s', (late, reports) => {
    const named = reports.flatMap((report, i) =>
      report ? [{ duchy: [FIRST, SECOND, AGGREGATOR][i]!, ...report }] : [],
    );
    const before = computing(measurement(2, 'liquidLegionsV2', RING));
    expect(failureOf('COMPUTING', before, named)!.message).toBe(
      `No result came within 24 h of the last confirmation: it waited for ${late}.`,
    );
  });

  function computing(before = measurement()): Aggregate {
    const { measurement: m, requisitions, participants } = before;
    return { measurement: { ...m, state: 'COMPUTING' }, requisitions, participants };
  }
});
