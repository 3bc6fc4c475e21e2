/**
 * The aggregate: a measurement with its requisitions, and every way it can change. Pure: it is given the
 * time, decides, and returns what becomes of it with one log entry per step. This is the only state machine.
 */
import { hash } from 'node:crypto';
import {
  type EncryptedMessage,
  type EncryptedRequisitionSpec,
  type EncryptionPublicKey,
  ExchangeError,
  type FailureReason,
  type FulfillmentContext,
  isTerminal,
  type MeasurementInput,
  type MeasurementState,
  type MeasurementType,
  type Protocol,
  type Refusal,
  type RequisitionState,
  type SignedMessage,
  type Timestamp,
} from '@measurement-exchange/contract';
import { type Certificate, requireUsable } from './certificate.ts';
import { nonceMatches } from './nonce.ts';
import { strictlyAfter } from './time.ts';

export interface MeasurementRecord {
  id: string;
  /** `measurementConsumers/x` */
  consumer: string;
  /** ID of the consumer's certificate. */
  certificate: string;
  spec: SignedMessage;
  labels: Labels;
  measurementType: MeasurementType | undefined;
  protocol: Protocol;
  state: MeasurementState;
  failure: { reason: FailureReason; message: string } | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

/** What the consumer notes on a measurement for itself: stored and shown as it is. */
export type Labels = Omit<
  MeasurementInput,
  'measurementConsumerCertificate' | 'measurementSpec' | 'dataProviders'
>;

export interface RequisitionRecord {
  id: string;
  /** `dataProviders/x` */
  provider: string;
  /** ID of the provider's certificate. */
  certificate: string;
  publicKey: EncryptionPublicKey;
  encryptedSpec: EncryptedRequisitionSpec;
  nonceHash: Uint8Array;
  state: RequisitionState;
  refusal: Refusal | undefined;
  fulfillment: Fulfillment | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export interface Fulfillment {
  nonce: bigint;
  /** ID of the provider's certificate whose key signed the result. */
  certificate: string;
  encryptedResult: EncryptedMessage;
  context: FulfillmentContext | undefined;
}

export interface Aggregate {
  measurement: MeasurementRecord;
  requisitions: RequisitionRecord[];
}

/** One logged step; `requisition` is undefined for the measurement's own. */
export interface Step {
  requisition: string | undefined;
  version: number;
  from: string | undefined;
  to: string;
  time: Timestamp;
  cause: Trigger;
}

export interface Change {
  after: Aggregate;
  steps: Step[];
}

/** Every edge there is: what may happen to which resource, from where to where. */
export const EDGES = [
  ['measurement', 'created', undefined, 'AWAITING_REQUISITION_FULFILLMENT'],
  ['measurement', 'allFulfilled', 'AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING'],
  ['measurement', 'computed', 'COMPUTING', 'SUCCEEDED'],
  ['measurement', 'refused', 'AWAITING_REQUISITION_FULFILLMENT', 'FAILED'],
  ['measurement', 'cancelled', 'AWAITING_REQUISITION_FULFILLMENT', 'CANCELLED'],
  ['measurement', 'cancelled', 'COMPUTING', 'CANCELLED'],
  ['measurement', 'expired', 'AWAITING_REQUISITION_FULFILLMENT', 'CANCELLED'],
  ['measurement', 'expired', 'COMPUTING', 'CANCELLED'],
  ['measurement', 'certificateRevoked', 'AWAITING_REQUISITION_FULFILLMENT', 'FAILED'],
  ['measurement', 'certificateRevoked', 'COMPUTING', 'FAILED'],
  ['measurement', 'participantFailed', 'AWAITING_REQUISITION_FULFILLMENT', 'FAILED'],
  ['measurement', 'participantFailed', 'COMPUTING', 'FAILED'],
  ['requisition', 'created', undefined, 'UNFULFILLED'],
  ['requisition', 'fulfilled', 'UNFULFILLED', 'FULFILLED'],
  ['requisition', 'refused', 'UNFULFILLED', 'REFUSED'],
  ['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'],
] as const;

type Edge = (typeof EDGES)[number];
export type Trigger = Edge[1];
type MeasurementTrigger = Extract<Edge, readonly ['measurement', ...unknown[]]>[1];
type RequisitionTrigger = Extract<Edge, readonly ['requisition', ...unknown[]]>[1];

/** Where a trigger leads from a state, or undefined where it may not happen. */
export function target(resource: Edge[0], trigger: Trigger, from: string | undefined): string | undefined {
  return EDGES.find((e) => e[0] === resource && e[1] === trigger && e[2] === from)?.[3];
}

/** Changes with every version and never repeats; derived from the version, never from a clock. */
export function etagOf({ id, version }: Pick<RequisitionRecord, 'id' | 'version'>): string {
  return hash('sha256', `${id} ${version}`).slice(0, 20);
}

/** What only the state machine sets. */
type Progress = 'state' | 'version' | 'createTime' | 'updateTime';
export type NewMeasurement = Omit<MeasurementRecord, Progress | 'failure'>;
export type NewRequisition = Omit<RequisitionRecord, Progress | 'refusal' | 'fulfillment'>;

export function create(measurement: NewMeasurement, requisitions: NewRequisition[], now: Timestamp): Change {
  const fresh = { version: 1, createTime: now, updateTime: now } as const;
  const state = 'AWAITING_REQUISITION_FULFILLMENT';
  const after: Aggregate = {
    measurement: { ...measurement, ...fresh, state, failure: undefined },
    requisitions: requisitions.map((r) => ({
      ...r,
      ...fresh,
      state: 'UNFULFILLED',
      refusal: undefined,
      fulfillment: undefined,
    })),
  };
  const first = { version: 1, from: undefined, time: now, cause: 'created' } as const;
  return {
    after,
    steps: [
      { ...first, requisition: undefined, to: state },
      ...requisitions.map((r): Step => ({ ...first, requisition: r.id, to: 'UNFULFILLED' })),
    ],
  };
}

export interface FulfilInput {
  etag: string;
  nonce: bigint;
  encryptedResult: EncryptedMessage;
  context: FulfillmentContext | undefined;
  /** The certificate named in the request, as far as it exists. */
  certificate: Certificate | undefined;
}

/** A provider's direct result. The last one carries the measurement through COMPUTING to SUCCEEDED. */
export function fulfil(before: Aggregate, requisitionId: string, input: FulfilInput, now: Timestamp): Change {
  const requisition = openRequisition(before, requisitionId, input.etag);
  if (before.measurement.protocol !== 'direct') {
    throw new ExchangeError(
      'PROTOCOL_NOT_DIRECT',
      `The measurement runs ${before.measurement.protocol}; its requisitions take no direct result.`,
    );
  }
  if (!nonceMatches(input.nonce, requisition.nonceHash)) {
    throw new ExchangeError(
      'NONCE_MISMATCH',
      'The nonce does not hash to the nonceHash of the requisition.',
      {
        violations: [{ field: 'nonce', description: 'does not hash to the nonceHash of the requisition' }],
      },
    );
  }
  const certificate = requireUsable(input.certificate, 'certificate', now);
  const changing = new Changing(before, now);
  changing.stepRequisition(requisition, 'fulfilled', {
    fulfillment: {
      nonce: input.nonce,
      certificate: certificate.id,
      encryptedResult: input.encryptedResult,
      context: input.context,
    },
  });
  if (changing.requisitions.every((r) => r.state === 'FULFILLED')) {
    changing.stepMeasurement('allFulfilled');
    // Direct results need no further computation.
    changing.stepMeasurement('computed');
  }
  return changing.done();
}

/** A provider declines for good: its requisition is refused, the measurement fails, the others are withdrawn. */
export function refuse(
  before: Aggregate,
  requisitionId: string,
  input: { etag: string; refusal: Refusal },
  now: Timestamp,
): Change {
  const requisition = openRequisition(before, requisitionId, input.etag);
  const changing = new Changing(before, now);
  changing.stepRequisition(requisition, 'refused', { refusal: input.refusal });
  const { consumer, id } = before.measurement;
  changing.stepMeasurement('refused', {
    reason: 'REQUISITION_REFUSED',
    message:
      `${requisition.provider} refused ${consumer}/measurements/${id}/requisitions/${requisition.id}: ` +
      `${input.refusal.justification}${input.refusal.message ? `: ${input.refusal.message}` : ''}`,
  });
  changing.withdrawOpen();
  return changing.done();
}

/** The consumer gives up a measurement that is not complete, or it was pending for too long. */
export function cancel(
  before: Aggregate,
  now: Timestamp,
  cause: 'cancelled' | 'expired' = 'cancelled',
): Change {
  requireOpen(before.measurement);
  const changing = new Changing(before, now);
  changing.stepMeasurement(cause);
  changing.withdrawOpen();
  return changing.done();
}

/** A certificate it rests on was revoked or put on hold, or a duchy gave up. */
export function fail(
  before: Aggregate,
  cause: 'certificateRevoked' | 'participantFailed',
  message: string,
  now: Timestamp,
): Change {
  requireOpen(before.measurement);
  const reason = cause === 'certificateRevoked' ? 'CERTIFICATE_REVOKED' : 'COMPUTATION_PARTICIPANT_FAILED';
  const changing = new Changing(before, now);
  changing.stepMeasurement(cause, { reason, message });
  changing.withdrawOpen();
  return changing.done();
}

function requireOpen(measurement: MeasurementRecord): void {
  if (isTerminal(measurement.state)) throw measurementClosed(measurement);
}

export function measurementClosed(
  measurement: Pick<MeasurementRecord, 'consumer' | 'id' | 'state'>,
): ExchangeError {
  const name = `${measurement.consumer}/measurements/${measurement.id}`;
  return new ExchangeError('MEASUREMENT_STATE_ILLEGAL', `${name} is ${measurement.state} and stays so.`, {
    metadata: { measurement: name, state: measurement.state },
  });
}

function requireEtag(requisition: RequisitionRecord, etag: string): void {
  const actual = etagOf(requisition);
  if (etag === actual) return;
  throw new ExchangeError(
    'REQUISITION_ETAG_MISMATCH',
    'The requisition changed since it was read: read it again and retry with its etag.',
    { metadata: { requestEtag: etag, actualEtag: actual } },
  );
}

/** The etag is checked before the state: a stale etag is ABORTED even when the requisition is closed. */
function openRequisition(aggregate: Aggregate, id: string, etag: string): RequisitionRecord {
  const requisition = aggregate.requisitions.find((r) => r.id === id)!;
  requireEtag(requisition, etag);
  if (requisition.state !== 'UNFULFILLED') {
    throw requisitionClosed(`${requisition.provider}/requisitions/${id}`, requisition.state);
  }
  return requisition;
}

export function requisitionClosed(requisition: string, state: RequisitionState): ExchangeError {
  return new ExchangeError('REQUISITION_STATE_ILLEGAL', `The requisition is ${state} and stays so.`, {
    metadata: { requisition, state },
  });
}

/** An aggregate on its way from one state to the next; every step goes through the edge table and the log. */
class Changing {
  private measurement: MeasurementRecord;
  requisitions: RequisitionRecord[];
  private readonly now: Timestamp;
  private readonly steps: Step[] = [];

  constructor(before: Aggregate, now: Timestamp) {
    this.measurement = before.measurement;
    this.requisitions = before.requisitions;
    this.now = now;
  }

  stepMeasurement(cause: MeasurementTrigger, failure?: MeasurementRecord['failure']): void {
    const from = this.measurement.state;
    const to = step('measurement', cause, from) as MeasurementState;
    const version = this.measurement.version + 1;
    const updateTime = strictlyAfter(this.now, this.measurement.updateTime);
    this.measurement = { ...this.measurement, state: to, version, updateTime, failure };
    this.steps.push({ requisition: undefined, version, from, to, time: updateTime, cause });
  }

  stepRequisition(
    requisition: RequisitionRecord,
    cause: RequisitionTrigger,
    fields: Partial<Pick<RequisitionRecord, 'refusal' | 'fulfillment'>> = {},
  ): void {
    const from = requisition.state;
    const to = step('requisition', cause, from) as RequisitionState;
    const version = requisition.version + 1;
    const updateTime = strictlyAfter(this.now, requisition.updateTime);
    const changed: RequisitionRecord = { ...requisition, ...fields, state: to, version, updateTime };
    this.requisitions = this.requisitions.map((r) => (r.id === changed.id ? changed : r));
    this.steps.push({ requisition: changed.id, version, from, to, time: updateTime, cause });
  }

  /** FULFILLED requisitions stay so whatever becomes of the measurement. */
  withdrawOpen(): void {
    for (const r of this.requisitions) {
      if (r.state === 'UNFULFILLED') this.stepRequisition(r, 'withdrawn');
    }
  }

  done(): Change {
    return { after: { measurement: this.measurement, requisitions: this.requisitions }, steps: this.steps };
  }
}

function step(resource: Edge[0], trigger: Trigger, from: string): string {
  const to = target(resource, trigger, from);
  if (to === undefined) throw new Error(`no edge ${trigger} out of ${resource} ${from}`);
  return to;
}
