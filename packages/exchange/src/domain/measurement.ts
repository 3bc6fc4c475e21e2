/**
 * All changes to measurements except the changes by duchies. Each function returns the new aggregate and the state
 * changes to log.
 */
import { hash } from 'node:crypto';
import { includesHash } from '@measurement-exchange/consent';
import {
  type Deferral,
  type EncryptedMessage,
  ExchangeError,
  type FulfillmentContext,
  invalid,
  isTerminal,
  type Refusal,
  type RequisitionState,
  type Timestamp,
  timestampOf,
} from '@measurement-exchange/contract';
import {
  type Aggregate,
  type Change,
  ChangeBuilder,
  type MeasurementOutline,
  type MeasurementRecord,
  measurementName,
  type Outline,
  type RequisitionOutline,
  type RequisitionRecord,
  type Step,
} from './aggregate.ts';
import { type Certificate, requireUsable } from './certificate.ts';
import { createParticipants, fulfillingDuchyOf } from './participants.ts';

/** Returns the etag of a requisition. The etag depends on the version, so no two versions have the same etag. */
export function etagOf({ id, version }: Pick<RequisitionOutline, 'id' | 'version'>): string {
  return hash('sha256', `${id} ${version}`).slice(0, 20);
}

type Progress = 'state' | 'version' | 'createTime' | 'updateTime';
export type NewMeasurement = Omit<MeasurementRecord, Progress | 'failure' | 'result'>;
export type NewRequisition = Omit<
  RequisitionRecord,
  Progress | 'refusal' | 'deferral' | 'fulfillment' | 'fulfillingDuchy'
>;

export function create(measurement: NewMeasurement, requisitions: NewRequisition[], now: Timestamp): Change {
  const fresh = { version: 1, createTime: now, updateTime: now } as const;
  const state = 'AWAITING_REQUISITION_FULFILLMENT';
  const after: Aggregate = {
    measurement: { ...measurement, ...fresh, state, failure: undefined, result: undefined },
    requisitions: requisitions.map((r) => ({
      ...r,
      ...fresh,
      fulfillingDuchy: fulfillingDuchyOf(measurement, r.id),
      state: 'UNFULFILLED',
      refusal: undefined,
      deferral: undefined,
      fulfillment: undefined,
    })),
    participants: createParticipants(measurement, now),
  };
  const first = { version: 1, from: undefined, time: now, cause: 'created' } as const;
  return {
    after,
    steps: [
      { ...first, subject: '', to: state },
      ...requisitions.map((r): Step => ({ ...first, subject: r.id, to: 'UNFULFILLED' })),
      ...after.participants.map((p): Step => ({ ...first, subject: p.duchy, to: p.state })),
    ],
  };
}

interface FulfillInput {
  etag: string;
  nonce: bigint;
  /** The nonce's hashes, one for each encoding that the exchange accepts. */
  nonceHashes: Uint8Array[];
  encryptedResult: EncryptedMessage;
  context: FulfillmentContext | undefined;
  /** Undefined if the request names a certificate that does not exist. */
  certificate: Certificate | undefined;
}

/** Stores a provider's direct result. The last result moves the measurement to COMPUTING and then to SUCCEEDED. */
export function fulfill<A extends Outline>(
  before: A,
  requisitionId: string,
  input: FulfillInput,
  now: Timestamp,
): Change<A> {
  const requisition = openRequisition(before, requisitionId, input.etag);
  if (before.measurement.protocol !== 'direct') {
    throw new ExchangeError(
      'PROTOCOL_NOT_DIRECT',
      `The measurement runs ${before.measurement.protocol}; its requisitions take no direct result.`,
    );
  }
  requireNonce(requisition, input.nonceHashes);
  const certificate = requireUsable(input.certificate, 'certificate', now);
  const changing = new ChangeBuilder(before, now);
  changing.stepRequisition(requisition, 'fulfilled', {
    fulfillment: {
      nonce: input.nonce,
      result: { certificate: certificate.id, encryptedResult: input.encryptedResult },
      context: input.context,
    },
  });
  if (changing.requisitions.every((r) => r.state === 'FULFILLED')) {
    changing.stepMeasurement('allFulfilled');
    changing.stepMeasurement('computed');
  }
  return changing.done();
}

export function requireNonce({ nonceHash }: RequisitionOutline, hashes: Uint8Array[]): void {
  if (includesHash(hashes, nonceHash)) return;
  const description = 'does not hash to the nonceHash of the requisition';
  throw new ExchangeError('NONCE_MISMATCH', `The nonce ${description}.`, {
    violations: [{ field: 'nonce', description }],
  });
}

/** Records a refusal. The measurement fails, and the other open requisitions are withdrawn. */
export function refuse<A extends Outline>(
  before: A,
  requisitionId: string,
  input: { etag: string; refusal: Refusal },
  now: Timestamp,
): Change<A> {
  const requisition = openRequisition(before, requisitionId, input.etag);
  const changing = new ChangeBuilder(before, now);
  changing.stepRequisition(requisition, 'refused', { refusal: input.refusal });
  const message =
    `${requisition.provider} refused ${measurementName(before.measurement)}/requisitions/${requisition.id}: ` +
    `${input.refusal.justification}${input.refusal.message ? `: ${input.refusal.message}` : ''}`;
  changing.stepMeasurement('refused', { failure: { reason: 'REQUISITION_REFUSED', message } });
  changing.withdrawOpen();
  return changing.done();
}

const MAX_DEFERRAL_DAYS = 30;
/**
 * The maximum number of deferrals that create a new version of a requisition. Later deferrals only replace the stored
 * deferral.
 */
const MAX_LOGGED_DEFERRALS = 10;
/** The minimum time between two deferrals of a requisition that was already deferred MAX_LOGGED_DEFERRALS times. */
const DEFERRAL_INTERVAL_SECONDS = 60;

export interface EarlierDeferrals {
  logged: number;
  lastTime: Timestamp | undefined;
}

/**
 * Stores a deferral, unless it repeats the stored one. The number of logged deferrals is limited, so that a provider
 * cannot flood the consumer's timeline, feed, and webhooks.
 */
export function defer<A extends Outline>(
  before: A,
  requisitionId: string,
  deferral: Deferral,
  earlier: EarlierDeferrals,
  now: Timestamp,
): Change<A> {
  const requisition = before.requisitions.find((r) => r.id === requisitionId)!;
  requireUnfulfilled(requisition);
  const { reason, until } = deferral;
  if (until <= now || until > timestampOf(Date.parse(now) + MAX_DEFERRAL_DAYS * 86_400_000)) {
    const description = `must be in the future, and at most ${MAX_DEFERRAL_DAYS} days ahead`;
    throw invalid([{ field: 'until', description }]);
  }
  const { deferral: last } = requisition;
  if (last?.reason === reason && last.until === until) return { after: before, steps: [] };
  if (earlier.logged < MAX_LOGGED_DEFERRALS) {
    const changing = new ChangeBuilder(before, now);
    changing.stepRequisition(requisition, 'deferred', { deferral });
    return changing.done();
  }
  requireDeferralInterval(earlier.lastTime, now);
  const requisitions = before.requisitions.map((r) => (r === requisition ? { ...r, deferral } : r));
  return { after: { ...before, requisitions }, steps: [] };
}

function requireDeferralInterval(lastTime: Timestamp | undefined, now: Timestamp): void {
  if (lastTime === undefined) return;
  const waitMs = Date.parse(lastTime) + DEFERRAL_INTERVAL_SECONDS * 1000 - Date.parse(now);
  if (waitMs <= 0) return;
  throw new ExchangeError(
    'DEFERRED_TOO_OFTEN',
    `The requisition was deferred more than ${MAX_LOGGED_DEFERRALS} times: defer it again in ${DEFERRAL_INTERVAL_SECONDS} s, with a realistic time.`,
    {
      retryAfterSeconds: Math.ceil(waitMs / 1000),
      violations: [{ field: 'until', description: `changed less than ${DEFERRAL_INTERVAL_SECONDS} s ago` }],
    },
  );
}

export function cancel<A extends Outline>(
  before: A,
  now: Timestamp,
  cause: 'cancelled' | 'expired' = 'cancelled',
): Change<A> {
  requireOpen(before.measurement);
  const changing = new ChangeBuilder(before, now);
  changing.stepMeasurement(cause);
  changing.withdrawOpen();
  return changing.done();
}

export function fail<A extends Outline>(
  before: A,
  cause: 'certificateRevoked' | 'overdue',
  message: string,
  now: Timestamp,
): Change<A> {
  requireOpen(before.measurement);
  const reason = cause === 'certificateRevoked' ? 'CERTIFICATE_REVOKED' : 'COMPUTATION_PARTICIPANT_FAILED';
  const changing = new ChangeBuilder(before, now);
  changing.stepMeasurement(cause, { failure: { reason, message } });
  changing.withdrawOpen();
  return changing.done();
}

function requireOpen(measurement: MeasurementOutline): void {
  if (isTerminal(measurement.state)) throw measurementClosed(measurement);
}

export function measurementClosed(
  closed: Pick<MeasurementOutline, 'consumer' | 'id' | 'state'>,
): ExchangeError {
  const measurement = measurementName(closed);
  const { state } = closed;
  return new ExchangeError('MEASUREMENT_STATE_ILLEGAL', `${measurement} is ${state} and stays so.`, {
    metadata: { measurement, state },
  });
}

/** Throws unless the etag is the requisition's current etag or empty. REST rejects an empty etag earlier. */
function requireEtag(requisition: RequisitionOutline, etag: string): void {
  const actual = etagOf(requisition);
  if (etag === actual || etag === '') return;
  throw new ExchangeError(
    'REQUISITION_ETAG_MISMATCH',
    'The requisition changed since it was read: read it again and retry with its etag.',
    { metadata: { requestEtag: etag, actualEtag: actual } },
  );
}

/**
 * Returns a requisition that can still be changed. Checks the etag before the state, so that a stale etag gives ABORTED
 * even for a closed requisition.
 */
function openRequisition(aggregate: Outline, id: string, etag: string): RequisitionOutline {
  const requisition = aggregate.requisitions.find((r) => r.id === id)!;
  requireEtag(requisition, etag);
  requireUnfulfilled(requisition);
  return requisition;
}

function requireUnfulfilled({ provider, id, state }: RequisitionOutline): void {
  if (state !== 'UNFULFILLED') throw requisitionClosed(`${provider}/requisitions/${id}`, state);
}

export function requisitionClosed(requisition: string, state: RequisitionState): ExchangeError {
  return new ExchangeError('REQUISITION_STATE_ILLEGAL', `The requisition is ${state} and stays so.`, {
    metadata: { requisition, state },
  });
}
