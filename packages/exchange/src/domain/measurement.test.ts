import { createHash } from 'node:crypto';
import {
  ExchangeError,
  MEASUREMENT_STATES,
  type MeasurementState,
  REQUISITION_STATES,
  type RequisitionState,
} from '@measurement-exchange/contract';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { describe, expect, it } from 'vitest';
import { type Aggregate, type Change, EDGES, type RequisitionRecord, target } from './aggregate.ts';
import { cancel, create, etagOf, fail, fulfill, refuse } from './measurement.ts';

const NOW = '2026-01-02T03:04:05.000000Z';
const LATER = '2026-01-02T03:04:06.000000Z';

function hashOf(nonce: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(nonce);
  return createHash('sha256').update(bytes).digest();
}

const certificate = {
  party: 'dataProviders/a',
  id: 'c',
  notBefore: '2020-01-01T00:00:00.000000Z',
  notAfter: '2030-01-01T00:00:00.000000Z',
  revocationState: undefined,
};

function fresh(
  providers = ['a', 'b', 'c'],
  protocol: Aggregate['measurement']['protocol'] = 'direct',
): Aggregate {
  return create(
    measurementRecord({ measurementType: 'IMPRESSION', protocol }),
    providers.map((p, i) => requisitionRecord(p, { nonceHash: hashOf(BigInt(i)) })),
    NOW,
  ).after;
}

/** Returns an aggregate in the given states. All other content is arbitrary. */
function inStates(measurement: MeasurementState, requisitions: RequisitionState[]): Aggregate {
  const base = fresh(requisitions.map((_, i) => 'abc'[i]!));
  return {
    measurement: { ...base.measurement, state: measurement },
    requisitions: base.requisitions.map((r, i) => ({ ...r, state: requisitions[i]! })),
    participants: [],
  };
}

const etag = (a: Aggregate, i = 0) => etagOf(a.requisitions[i]!);

const triggers: Record<string, (a: Aggregate) => Change> = {
  fulfill: (a) =>
    fulfill(
      a,
      'ra',
      {
        etag: etag(a),
        nonce: 0n,
        nonceHashes: [hashOf(0n)],
        encryptedResult: { ciphertext: new Uint8Array([9]), typeUrl: 't' },
        context: undefined,
        certificate,
      },
      LATER,
    ),
  refuse: (a) => refuse(a, 'ra', { etag: etag(a), refusal: { justification: 'DECLINED' } }, LATER),
  cancel: (a) => cancel(a, LATER),
  expire: (a) => cancel(a, LATER, 'expired'),
  certificateRevoked: (a) => fail(a, 'certificateRevoked', 'gone', LATER),
  overdue: (a) => fail(a, 'overdue', 'gone', LATER),
};

function outcome(run: () => Change): string {
  try {
    const { after } = run();
    return [after.measurement.state, ...after.requisitions.map((r) => r.state)].join(' ');
  } catch (error) {
    return error instanceof ExchangeError ? error.reason : `bug: ${error}`;
  }
}

const A = 'AWAITING_REQUISITION_FULFILLMENT';
const U = 'UNFULFILLED';
const F = 'FULFILLED';
const R = 'REFUSED';
const W = 'WITHDRAWN';
const CLOSED = 'MEASUREMENT_STATE_ILLEGAL';
const SHUT = 'REQUISITION_STATE_ILLEGAL';

// The table has every trigger, every state of a measurement, and every state of a requisition. It also has every pair
// of requisition states that can occur before the measurement ends. The triggers `fulfill` and `refuse` act on the
// first requisition.
const table: [MeasurementState, RequisitionState[], Record<keyof typeof triggers, string>][] = [
  [
    A,
    [U, U],
    {
      fulfill: `${A} ${F} ${U}`,
      refuse: `FAILED ${R} ${W}`,
      cancel: `CANCELLED ${W} ${W}`,
      expire: `CANCELLED ${W} ${W}`,
      certificateRevoked: `FAILED ${W} ${W}`,
      overdue: `FAILED ${W} ${W}`,
    },
  ],
  [
    A,
    [U, F],
    {
      fulfill: `SUCCEEDED ${F} ${F}`,
      refuse: `FAILED ${R} ${F}`,
      cancel: `CANCELLED ${W} ${F}`,
      expire: `CANCELLED ${W} ${F}`,
      certificateRevoked: `FAILED ${W} ${F}`,
      overdue: `FAILED ${W} ${F}`,
    },
  ],
  [
    A,
    [F, U],
    {
      fulfill: SHUT,
      refuse: SHUT,
      cancel: `CANCELLED ${F} ${W}`,
      expire: `CANCELLED ${F} ${W}`,
      certificateRevoked: `FAILED ${F} ${W}`,
      overdue: `FAILED ${F} ${W}`,
    },
  ],
  [
    'COMPUTING',
    [F, F],
    {
      fulfill: SHUT,
      refuse: SHUT,
      cancel: `CANCELLED ${F} ${F}`,
      expire: `CANCELLED ${F} ${F}`,
      certificateRevoked: `FAILED ${F} ${F}`,
      overdue: `FAILED ${F} ${F}`,
    },
  ],
  [
    'SUCCEEDED',
    [F, F],
    {
      fulfill: SHUT,
      refuse: SHUT,
      cancel: CLOSED,
      expire: CLOSED,
      certificateRevoked: CLOSED,
      overdue: CLOSED,
    },
  ],
  [
    'FAILED',
    [R, W],
    {
      fulfill: SHUT,
      refuse: SHUT,
      cancel: CLOSED,
      expire: CLOSED,
      certificateRevoked: CLOSED,
      overdue: CLOSED,
    },
  ],
  [
    'FAILED',
    [W, R],
    {
      fulfill: SHUT,
      refuse: SHUT,
      cancel: CLOSED,
      expire: CLOSED,
      certificateRevoked: CLOSED,
      overdue: CLOSED,
    },
  ],
  [
    'CANCELLED',
    [W, F],
    {
      fulfill: SHUT,
      refuse: SHUT,
      cancel: CLOSED,
      expire: CLOSED,
      certificateRevoked: CLOSED,
      overdue: CLOSED,
    },
  ],
];

describe('the state machine', () => {
  for (const [measurement, requisitions, expected] of table) {
    for (const [name, trigger] of Object.entries(triggers)) {
      it(`${name} in ${measurement} with ${requisitions.join(' and ')} gives ${expected[name]}`, () => {
        expect(outcome(() => trigger(inStates(measurement, requisitions)))).toBe(expected[name]);
      });
    }
  }

  it('is tested in every state of measurements and requisitions', () => {
    expect(new Set(table.map(([m]) => m))).toEqual(new Set(MEASUREMENT_STATES));
    expect(new Set(table.flatMap(([, rs]) => rs))).toEqual(new Set(REQUISITION_STATES));
  });

  it('has no edge out of a terminal state or into the initial state', () => {
    const terminal = {
      measurement: ['SUCCEEDED', 'FAILED', 'CANCELLED'],
      requisition: [F, R, W],
      participant: ['FAILED'],
    };
    for (const [resource, cause, from, to] of EDGES) {
      expect(terminal[resource]).not.toContain(from);
      // Duchy parameters and deferrals create a new version of a requisition without a new state.
      const keepsState = cause === 'parametersSet' || cause === 'deferred';
      if (from !== undefined && !keepsState) expect([A, U, 'CREATED']).not.toContain(to);
    }
    expect(target('measurement', 'computed', A)).toBeUndefined();
  });

  it('logs each step with the next version, and leaves other requisitions unchanged', () => {
    const before = inStates(A, [U, F]);
    const { after, steps } = triggers.fulfill!(before);
    expect(steps).toEqual([
      { subject: 'ra', version: 2, from: U, to: F, time: LATER, cause: 'fulfilled' },
      { subject: '', version: 2, from: A, to: 'COMPUTING', time: LATER, cause: 'allFulfilled' },
      {
        subject: '',
        version: 3,
        from: 'COMPUTING',
        to: 'SUCCEEDED',
        time: '2026-01-02T03:04:06.000001Z',
        cause: 'computed',
      },
    ]);
    expect(after.measurement.version).toBe(3);
    expect(after.requisitions[1]).toBe(before.requisitions[1]);
  });

  it('leaves the measurement unchanged by a fulfillment that is not the last', () => {
    const before = fresh();
    expect(triggers.fulfill!(before).after.measurement).toBe(before.measurement);
  });

  it('moves the update time forward even if the clock is behind', () => {
    const before = fresh();
    const { after } = cancel(before, '1999-01-01T00:00:00.000000Z');
    expect(after.measurement.updateTime).toBe('2026-01-02T03:04:05.000001Z');
    expect(after.requisitions.every((r) => r.updateTime > NOW)).toBe(true);
  });
});

describe('fulfill', () => {
  const attempt = (change: Partial<Parameters<typeof fulfill>[2]>, a = fresh()) =>
    outcome(() =>
      fulfill(
        a,
        'ra',
        {
          etag: etag(a),
          nonce: 0n,
          nonceHashes: [hashOf(0n)],
          encryptedResult: { ciphertext: new Uint8Array([9]), typeUrl: 't' },
          context: undefined,
          certificate,
          ...change,
        },
        LATER,
      ),
    );

  it('checks the etag before the state, the state before the nonce, the nonce before the certificate', () => {
    const shut = inStates(A, [F, U]);
    expect(attempt({ etag: 'stale' }, shut)).toBe('REQUISITION_ETAG_MISMATCH');
    expect(attempt({ nonceHashes: [hashOf(7n)] }, shut)).toBe(SHUT);
    expect(attempt({ nonceHashes: [hashOf(7n)], certificate: undefined })).toBe('NONCE_MISMATCH');
    expect(attempt({ certificate: undefined })).toBe('CERTIFICATE_NOT_FOUND');
  });

  it('rejects a direct result in a multi-party protocol', () => {
    expect(attempt({}, fresh(['a', 'b'], 'honestMajorityShareShuffle'))).toBe('PROTOCOL_NOT_DIRECT');
  });

  it.each([
    ['revoked', { revocationState: 'REVOKED' as const }],
    ['on hold', { revocationState: 'HOLD' as const }],
    ['not valid yet', { notBefore: '2026-02-01T00:00:00.000000Z' }],
    ['expired', { notAfter: '2026-01-01T00:00:00.000000Z' }],
  ])('rejects a certificate that is %s', (_what, change) => {
    expect(attempt({ certificate: { ...certificate, ...change } })).toBe('CERTIFICATE_IS_INVALID');
  });
});

describe('refuse', () => {
  it("sets a failure with the justification, the requisition and the provider's message", () => {
    const a = fresh();
    const refusal = { justification: 'INSUFFICIENT_PRIVACY_BUDGET', message: 'used up' } as const;
    const { failure } = refuse(a, 'ra', { etag: etag(a), refusal }, LATER).after.measurement;
    expect(failure).toEqual({
      reason: 'REQUISITION_REFUSED',
      message:
        'dataProviders/a refused measurementConsumers/x/measurements/m/requisitions/ra: ' +
        'INSUFFICIENT_PRIVACY_BUDGET: used up',
    });
  });
});

describe('etagOf', () => {
  it('differs between versions and between requisitions', () => {
    const tags = ['a', 'b'].flatMap((id) => [1, 2, 12].map((version) => etagOf({ id, version })));
    expect(new Set(tags).size).toBe(6);
    // Without a separator between ID and version, these two etags would be the same.
    expect(etagOf({ id: 'a1', version: 2 } as RequisitionRecord)).not.toBe(etagOf({ id: 'a', version: 12 }));
  });
});
