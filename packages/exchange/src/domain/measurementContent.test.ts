/**
 * Tests what each change stores in a measurement and its requisitions, apart from their states. Also tests the errors
 * of rejected changes.
 */
import { createHash } from 'node:crypto';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { describe, expect, it } from 'vitest';
import { type Aggregate, target } from './aggregate.ts';
import { cancel, create, etagOf, fail, fulfill, measurementClosed, refuse } from './measurement.ts';

const NOW = '2026-01-02T03:04:05.000000Z';
const LATER = '2026-01-02T03:04:06.000000Z';
const CONSUMER = 'measurementConsumers/x';
const certificate = {
  party: 'dataProviders/b',
  id: 'newer',
  notBefore: '2020-01-01T00:00:00.000000Z',
  notAfter: '2030-01-01T00:00:00.000000Z',
  revocationState: undefined,
};
const encryptedResult = { ciphertext: Uint8Array.of(9), typeUrl: 't' };
const context = { buildLabel: 'v1' };
const nonceHash = createHash('sha256').update(Buffer.alloc(8)).digest();
const otherHash = createHash('sha256').update('0').digest();

const measurement = measurementRecord({
  consumer: CONSUMER,
  labels: { measurementReferenceId: 'ref' },
  measurementType: 'IMPRESSION',
});
const requisition = (id: string) => requisitionRecord(id, { id, nonceHash });
const created = () => create(measurement, [requisition('a'), requisition('b')], NOW);
const fresh = (): Aggregate => created().after;
const etag = ({ requisitions: [, second] }: Aggregate) => etagOf(second!);
const input = (aggregate: Aggregate) => ({
  etag: etag(aggregate),
  nonce: 0n,
  nonceHashes: [nonceHash],
  encryptedResult,
  context,
  certificate,
});

describe('a new measurement', () => {
  const first = { version: 1, createTime: NOW, updateTime: NOW };

  it('waits for all its requisitions', () => {
    const none = { refusal: undefined, fulfillment: undefined, fulfillingDuchy: undefined };
    const open = { ...first, ...none, state: 'UNFULFILLED' };
    const state = 'AWAITING_REQUISITION_FULFILLMENT';
    expect(fresh()).toEqual({
      measurement: { ...measurement, ...first, state, failure: undefined, result: undefined },
      requisitions: [
        { ...requisition('a'), ...open },
        { ...requisition('b'), ...open },
      ],
      participants: [],
    });
  });

  it('logs its own creation, then that of each requisition', () => {
    const step = { version: 1, from: undefined, time: NOW, cause: 'created' };
    expect(created().steps).toEqual([
      { ...step, subject: '', to: 'AWAITING_REQUISITION_FULFILLMENT' },
      { ...step, subject: 'a', to: 'UNFULFILLED' },
      { ...step, subject: 'b', to: 'UNFULFILLED' },
    ]);
  });
});

describe('a requisition', () => {
  it('stores the fulfillment with the certificate that signed it, and leaves the other requisition unchanged', () => {
    const before = fresh();
    const { requisitions } = fulfill(before, 'b', input(before), LATER).after;
    expect(requisitions[0]).toBe(before.requisitions[0]);
    expect(requisitions[1]).toEqual({
      ...before.requisitions[1],
      state: 'FULFILLED',
      version: 2,
      updateTime: LATER,
      fulfillment: { nonce: 0n, result: { certificate: 'newer', encryptedResult }, context },
    });
  });

  it('stores the refusal, but the other, withdrawn requisition does not', () => {
    const before = fresh();
    const refusal = { justification: 'DECLINED' } as const;
    const { after } = refuse(before, 'b', { etag: etag(before), refusal }, LATER);
    expect(after.requisitions.map((r) => r.refusal)).toEqual([undefined, refusal]);
    expect(after.requisitions.map((r) => r.version)).toEqual([2, 2]);
    expect(after.measurement.failure!.message).toBe(
      `dataProviders/b refused ${CONSUMER}/measurements/m/requisitions/b: DECLINED`,
    );
  });

  it('rejects a stale etag with an error that contains both etags', () => {
    const before = fresh();
    expect(() => fulfill(before, 'b', { ...input(before), etag: 'old' }, LATER)).toThrow(
      expect.objectContaining({
        reason: 'REQUISITION_ETAG_MISMATCH',
        metadata: { requestEtag: 'old', actualEtag: etag(before) },
      }),
    );
    expect(etag(before)).toMatch(/^[0-9a-f]{20}$/);
  });

  it('rejects a second fulfillment with an error that contains its name and state', () => {
    const before = fresh();
    const { after } = fulfill(before, 'b', input(before), LATER);
    expect(() => fulfill(after, 'b', input(after), LATER)).toThrow(
      expect.objectContaining({
        reason: 'REQUISITION_STATE_ILLEGAL',
        metadata: { requisition: 'dataProviders/b/requisitions/b', state: 'FULFILLED' },
      }),
    );
  });

  it('rejects a wrong nonce and a missing certificate with errors that name the field', () => {
    const before = fresh();
    expect(() => fulfill(before, 'b', { ...input(before), nonceHashes: [otherHash] }, LATER)).toThrow(
      expect.objectContaining({
        reason: 'NONCE_MISMATCH',
        violations: [{ field: 'nonce', description: expect.any(String) }],
      }),
    );
    expect(() => fulfill(before, 'b', { ...input(before), certificate: undefined }, LATER)).toThrow(
      expect.objectContaining({ reason: 'CERTIFICATE_NOT_FOUND', metadata: { field: 'certificate' } }),
    );
  });

  it('accepts a nonce if any of its hashes is the nonce hash of the requisition', () => {
    const before = fresh();
    const { after } = fulfill(before, 'b', { ...input(before), nonceHashes: [otherHash, nonceHash] }, LATER);
    expect(after.requisitions[1]!.state).toBe('FULFILLED');
  });
});

describe('a measurement', () => {
  it.each([
    ['certificateRevoked', 'CERTIFICATE_REVOKED'],
    ['overdue', 'COMPUTATION_PARTICIPANT_FAILED'],
  ] as const)('that is failed as %s has the failure reason %s', (cause, reason) => {
    const { after, steps } = fail(fresh(), cause, 'gone', LATER);
    expect(after.measurement.failure).toEqual({ reason, message: 'gone' });
    expect(steps.map((s) => s.cause)).toEqual([cause, 'withdrawn', 'withdrawn']);
  });

  it('has no failure when it is cancelled, and logs the cause', () => {
    const { after, steps } = cancel(fresh(), LATER, 'expired');
    expect(after.measurement.failure).toBeUndefined();
    expect(steps.map((s) => [s.subject, s.cause])).toEqual([
      ['', 'expired'],
      ['a', 'withdrawn'],
      ['b', 'withdrawn'],
    ]);
    expect(cancel(fresh(), LATER).steps[0]!.cause).toBe('cancelled');
  });

  it('that is closed causes an error that contains its name and state', () => {
    const { measurement } = cancel(fresh(), LATER).after;
    expect(measurementClosed(measurement)).toMatchObject({
      reason: 'MEASUREMENT_STATE_ILLEGAL',
      message: `${CONSUMER}/measurements/m is CANCELLED and stays so.`,
      metadata: { measurement: `${CONSUMER}/measurements/m`, state: 'CANCELLED' },
    });
  });

  it('has no edges of a requisition, and a requisition has no edges of a measurement', () => {
    expect(target('measurement', 'refused', 'UNFULFILLED')).toBeUndefined();
    expect(target('requisition', 'refused', 'AWAITING_REQUISITION_FULFILLMENT')).toBeUndefined();
    expect(target('requisition', 'created', undefined)).toBe('UNFULFILLED');
  });

  it('throws an error if its state contradicts its requisitions, because the edge table has no such step', () => {
    const before = fresh();
    const broken: Aggregate = { ...before, measurement: { ...before.measurement, state: 'SUCCEEDED' } };
    const refusal = { justification: 'DECLINED' } as const;
    expect(() => refuse(broken, 'b', { etag: etag(broken), refusal }, LATER)).toThrow(
      'no edge refused out of measurement SUCCEEDED',
    );
  });
});
