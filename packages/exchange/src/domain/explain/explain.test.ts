/**
 * Tests explanations at chosen times: waits, deadlines, risks, and how times are worded. Each expected number is
 * different, so that a test fails if the code mixes up two numbers.
 */
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { describe, expect, it } from 'vitest';
import type { Aggregate } from '../aggregate.ts';
import { create } from '../measurement.ts';
import type { StoredProtocolConfig } from '../protocolConfig.ts';
import { type Facts, inWords } from './facts.ts';
import { explainMeasurement, explainRequisition } from './index.ts';

const CREATED = '2026-01-01T00:00:00.000000Z';
/** Returns the time `hours` after the measurement was created. */
const at = (hours: number): Timestamp => timestampOf(Date.parse(CREATED) + hours * 3600_000);
const DEADLINES = {
  ...{ parametersWithinHours: 1, fulfillWithinHours: 100, confirmWithinHours: 3, computeWithinHours: 7 },
  cancelPendingAfterDays: undefined,
};
const CONSUMER = 'measurementConsumers/c';
const [FIRST, SECOND, AGGREGATOR] = ['duchies/first', 'duchies/second', 'duchies/aggregator'];
const SHUFFLE: StoredProtocolConfig = {
  ...{ firstWorker: FIRST!, secondWorker: SECOND!, aggregator: AGGREGATOR! },
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  ...{ ringModulus: 127, population: 'populations/p', populationFingerprint: '' },
};

function pending(providers = 1, protocolConfig: StoredProtocolConfig | undefined = undefined): Aggregate {
  const message = { message: new Uint8Array(1), signature: new Uint8Array(1) };
  const protocol = protocolConfig === undefined ? 'direct' : 'honestMajorityShareShuffle';
  return create(
    measurementRecord({ consumer: CONSUMER, spec: message, protocol, protocolConfig }),
    Array.from({ length: providers }, (_, i) => requisitionRecord(`p${i}`, { id: `r${i}` })),
    CREATED,
  ).after;
}

/**
 * A measurement in state COMPUTING. The computation last changed 5 hours after the creation of the measurement. The
 * measurement changed again at 5.5 hours, which does not affect the deadline of the computation.
 */
function computing(): Aggregate {
  const { measurement, requisitions, participants } = pending(1, SHUFFLE);
  const parameters = { certificate: 'd', publicKey: undefined, elGamalPublicKey: undefined };
  return {
    measurement: { ...measurement, state: 'COMPUTING', updateTime: at(5.5) },
    requisitions: requisitions.map((r) => ({ ...r, state: 'FULFILLED' as const })),
    participants: participants.map((p) => ({ ...p, state: 'READY' as const, parameters, updateTime: at(5) })),
  };
}

/** Facts in which every party was last seen a minute ago. */
function factsOf(aggregate: Aggregate, hours: number, more: Partial<Facts> = {}): Facts {
  const names = [
    ...aggregate.requisitions.map(({ provider }) => provider),
    ...aggregate.participants.map(({ duchy }) => duchy),
  ];
  const lastSeen = at(hours - 1 / 60);
  return {
    ...{ viewer: 'measurementConsumer', aggregate, cause: 'created', reports: [], certificates: new Map() },
    parties: new Map(names.map((name) => [name, { name, state: 'ACTIVE', publicKey: undefined, lastSeen }])),
    ...{ deadlines: DEADLINES, now: at(hours), ...more },
  } as Facts;
}
const explained = (aggregate: Aggregate, hours: number, more: Partial<Facts> = {}) =>
  explainMeasurement(factsOf(aggregate, hours, more));
const codes = ({ risks }: { risks: { code: string }[] }) => risks.map(({ code }) => code);

describe('the list of waits', () => {
  it('begins with the most severe one', () => {
    const aggregate = pending(3);
    const facts = factsOf(aggregate, 1);
    const parties = new Map(facts.parties);
    const [, second, third] = aggregate.requisitions.map(({ provider }) => provider);
    parties.set(second!, { ...parties.get(second!)!, lastSeen: undefined });
    parties.set(third!, { ...parties.get(third!)!, state: 'SUSPENDED' });
    const { waitingFor, summary } = explained(aggregate, 1, { parties });
    expect(waitingFor.map(({ code, party }) => [code, party])).toEqual([
      ['SUSPENDED', third],
      ['NOT_SEEN', second],
      ['SILENT', aggregate.requisitions[0]!.provider],
    ]);
    expect(summary).toContain(third);
  });
});

describe('the next deadline', () => {
  const retention = { deadlines: { ...DEADLINES, cancelPendingAfterDays: 2 } };
  const withParameters = () => {
    const { measurement, requisitions, participants } = pending(1, SHUFFLE);
    const changed = computing().participants.map((p, i) => ({
      ...participants[i]!,
      parameters: p.parameters,
      updateTime: at(20),
    }));
    return { measurement, requisitions, participants: changed };
  };

  it.each<[what: string, aggregate: Aggregate, more: Partial<Facts>, hours: number | undefined]>([
    ['undefined if the measurement has no deadline', pending(), {}, undefined],
    ['the retention deadline, counted from the creation', pending(), retention, 48],
    ['the deadline for parameters, counted from the creation', pending(1, SHUFFLE), retention, 1],
    ['the deadline for data, counted from the creation', withParameters(), {}, 100],
    ['the earlier of two deadlines', withParameters(), retention, 48],
    ['the deadline for the result, counted from the last change', computing(), retention, 12],
  ])('is %s', (_what, aggregate, more, hours) => {
    expect(explained(aggregate, 0.1, more).nextDeadline).toBe(hours === undefined ? undefined : at(hours));
  });

  it('is the risk DEADLINE_NEAR in the last quarter of its time', () => {
    expect(codes(explained(pending(), 35.9, retention))).toEqual([]);
    expect(codes(explained(pending(), 36.1, retention))).toEqual(['DEADLINE_NEAR']);
    expect(explained(pending(), 47, retention).risks[0]!.detail).toContain(
      'in 60 min, on 2026-01-03 00:00 UTC,',
    );
    // The duchies have 7 hours to compute the result, from hour 5 to hour 12. The risk DEADLINE_NEAR starts with the
    // last quarter of this time, at hour 10.25.
    expect([codes(explained(computing(), 10.2)), codes(explained(computing(), 10.3))]).toEqual([
      [],
      ['DEADLINE_NEAR'],
    ]);
  });

  it('is the risk DEFERRED_PAST_DEADLINE if an open requisition is deferred past it', () => {
    const deferred = (hours: number, state: 'UNFULFILLED' | 'FULFILLED' = 'UNFULFILLED') => {
      const { measurement, requisitions, participants } = pending(2);
      const [first, second] = requisitions;
      const deferral = { reason: 'later', until: at(hours) };
      return { measurement, requisitions: [first!, { ...second!, state, deferral }], participants };
    };
    expect(codes(explained(deferred(47), 1, retention))).toEqual([]);
    expect(codes(explained(deferred(49), 1, retention))).toEqual(['DEFERRED_PAST_DEADLINE']);
    expect(codes(explained(deferred(49, 'FULFILLED'), 1, retention))).toEqual([]);
  });
});

describe('a certificate', () => {
  const rests = (notAfter: Timestamp, revocationState?: 'HOLD' | 'REVOKED') => {
    const certificate = { party: 'dataProviders/p0', id: 'c', notBefore: CREATED, notAfter, revocationState };
    return { certificates: new Map([['dataProviders/p0/certificates/c', certificate]]) };
  };
  const first = (hours: number, more: object) => explained(pending(), hours, more).waitingFor[0]!.code;

  it('is a risk if it expires before the deadline, or within 30 days if there is no deadline', () => {
    expect(codes(explained(pending(), 1, rests(at(29 * 24))))).toEqual(['CERTIFICATE_EXPIRES']);
    expect(codes(explained(pending(), 1, rests(at(31 * 24))))).toEqual([]);
    const retention = { deadlines: { ...DEADLINES, cancelPendingAfterDays: 2 } };
    expect(codes(explained(pending(), 1, { ...rests(at(47)), ...retention }))).toEqual([
      'CERTIFICATE_EXPIRES',
    ]);
    expect(codes(explained(pending(), 1, { ...rests(at(49)), ...retention }))).toEqual([]);
  });

  it('is the reason of the wait, not a risk, if it has expired, is revoked or on hold', () => {
    expect(first(3, rests(at(4)))).toBe('SILENT');
    expect(first(5, rests(at(4)))).toBe('CERTIFICATE_EXPIRED');
    expect(codes(explained(pending(), 5, rests(at(4))))).toEqual([]);
    for (const [state, words] of [
      ['HOLD', 'is on hold'],
      ['REVOKED', 'is revoked'],
    ] as const) {
      const [wait] = explained(pending(), 3, rests(at(400), state)).waitingFor;
      expect(wait).toMatchObject({ code: 'REVOCATION_RUNNING', detail: expect.stringContaining(words) });
    }
  });
});

describe('a wait', () => {
  const seenAt = (hours: number | undefined, provider = 'dataProviders/p0') => {
    const lastSeen = hours === undefined ? undefined : at(hours);
    return {
      parties: new Map([
        [provider, { name: provider, state: 'ACTIVE' as const, publicKey: undefined, lastSeen }],
      ]),
    };
  };

  it('is SILENT, OFFLINE or NOT_SEEN, depending on when the party was last seen', () => {
    const code = (hours: number | undefined) => explained(pending(), 5, seenAt(hours)).waitingFor[0]!.code;
    expect([code(5 - 9 / 60), code(5 - 11 / 60), code(-1), code(undefined)]).toEqual([
      ...['SILENT', 'OFFLINE', 'NOT_SEEN', 'NOT_SEEN'],
    ]);
  });

  it('is ASKED for the first ten minutes, and SILENT afterwards', () => {
    const wait = (minutes: number, providers = 1) =>
      explained(pending(providers), minutes / 60).waitingFor[0]!;
    expect([wait(0.03).code, wait(9.9).code, wait(10.1).code]).toEqual(['ASKED', 'ASKED', 'SILENT']);
    expect(wait(9.9).remedy).toBe('Wait: its agent runs, and has 10 min before it counts as silent.');
    expect(wait(10.1).remedy).toContain('why its agent does not respond');
  });

  it('shows when the party was last seen', () => {
    const detail = (hours: number | undefined) =>
      explained(pending(), 5, seenAt(hours)).waitingFor[0]!.detail;
    expect(detail(4)).toContain('was last seen 60 min ago, on 2026-01-01 04:00 UTC.');
    expect(detail(-1)).toContain(
      'created 5 h ago, on 2026-01-01 00:00 UTC (last 6 h ago, on 2025-12-31 23:00 UTC)',
    );
  });

  it('is DEFERRED until the time of the deferral, and SILENT afterwards', () => {
    const { measurement, requisitions, participants } = pending();
    const deferral = { reason: 'later', until: at(4) };
    const aggregate = { measurement, requisitions: [{ ...requisitions[0]!, deferral }], participants };
    const code = (hours: number) => explained(aggregate, hours).waitingFor[0]!.code;
    expect([code(3.9), code(4.1)]).toEqual(['DEFERRED', 'SILENT']);
  });

  it('is STAGE_FAILING from the third attempt of a stage, unless the stage is done', () => {
    const code = (attempt: number, progress?: number) => {
      const report = { stage: 'SETUP_PHASE', attempt, progress, message: 'm', time: at(6) };
      const other = { ...report, duchy: SECOND!, attempt: 1, progress: 1 };
      const reports = [{ ...report, duchy: FIRST! }, other] as Facts['reports'];
      const { waitingFor } = explained(computing(), 6.5, { reports });
      return waitingFor.find(({ party }) => party === FIRST)?.code;
    };
    expect([code(2), code(3), code(3, 1)]).toEqual(['STAGE_RUNNING', 'STAGE_FAILING', 'STAGE_RUNNING']);
  });

  it('for many parties is summarized with three names and the number of the others', () => {
    const { summary } = explained(pending(6), 1);
    expect(summary).toContain(
      'it waits for dataProviders/p1, dataProviders/p2, dataProviders/p3 and 2 more as well',
    );
    expect(explained(pending(1), 1).summary).not.toContain('as well');
  });
});

describe('since', () => {
  it('is the creation while data is awaited, then the last change of the measurement or, for duchies, the computation', () => {
    const changed = { ...pending(), measurement: { ...pending().measurement, updateTime: at(3) } };
    expect(explained(changed, 6).since).toBe(CREATED);
    expect(explained(computing(), 6).since).toBe(at(5.5));
    expect(explained(computing(), 6, { viewer: 'duchy' }).since).toBe(at(5));
  });

  it('of a requisition is its creation, or its last change once it has ended', () => {
    const requisition = { ...pending().requisitions[0]!, updateTime: at(2) };
    const of = (state: 'UNFULFILLED' | 'FULFILLED') => {
      const aggregate = { ...pending(), requisitions: [{ ...requisition, state }] };
      return explainRequisition(factsOf(aggregate, 6, { viewer: 'dataProvider' })).since;
    };
    expect([of('UNFULFILLED'), of('FULFILLED')]).toEqual([CREATED, at(2)]);
  });
});

it('the code of the ending depends on the cause of the last step', () => {
  const failure = { reason: 'COMPUTATION_PARTICIPANT_FAILED' as const, message: 'm' };
  const code = (state: 'CANCELLED' | 'FAILED' | 'SUCCEEDED', cause: Facts['cause']) => {
    const aggregate = { ...pending(), measurement: { ...pending().measurement, state, failure } };
    return explained(aggregate, 6, { cause }).ending!.code;
  };
  expect([code('CANCELLED', 'cancelled'), code('CANCELLED', 'expired')]).toEqual([
    'CANCELLED',
    'PENDING_TOO_LONG',
  ]);
  const causes = ['refused', 'certificateRevoked', 'overdue', 'participantFailed'] as const;
  expect(causes.map((cause) => code('FAILED', cause))).toEqual([
    ...['REFUSED', 'CERTIFICATE_REVOKED', 'DEADLINE_MISSED', 'DUCHY_GAVE_UP'],
  ]);
  expect(code('SUCCEEDED', 'computed')).toBe('SUCCEEDED');
});

it('inWords prints a duration in s, min, h or days', () => {
  const seconds = [-5, 0, 119, 120, 5_400, 7_199, 7_200, 47 * 3600, 48 * 3600, 10 * 86_400];
  expect(seconds.map((s) => inWords(s * 1000))).toEqual([
    ...['0 s', '0 s', '119 s', '2 min', '90 min', '120 min', '2 h', '47 h', '2 days', '10 days'],
  ]);
});
