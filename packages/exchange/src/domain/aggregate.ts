/** The records of a measurement, its requisitions, and its participants, and all transitions between their states. */
import type {
  Deferral,
  DuchyRole,
  EncryptedMessage,
  EncryptedRequisitionSpec,
  EncryptionPublicKey,
  FailureReason,
  FulfillmentContext,
  MeasurementInput,
  MeasurementState,
  MeasurementType,
  ParticipantState,
  Protocol,
  Refusal,
  RequisitionState,
  SignedMessage,
  Timestamp,
} from '@measurement-exchange/contract';
import type { StoredProtocolConfig } from './protocolConfig.ts';
import { strictlyAfter } from './time.ts';

/** A measurement without its long fields. Those can be megabytes in size, and most rules do not need them. */
export interface MeasurementOutline {
  id: string;
  /** A name such as `measurementConsumers/x`. */
  consumer: string;
  /** The ID of the consumer's certificate. */
  certificate: string;
  labels: Labels;
  measurementType: MeasurementType | undefined;
  protocol: Protocol;
  /** Undefined for a direct measurement. */
  protocolConfig: StoredProtocolConfig | undefined;
  state: MeasurementState;
  failure: { reason: FailureReason; message: string } | undefined;
  /** The result that the duchies computed together. A direct measurement has its results in its requisitions. */
  result: OfDuchy<ResultOutline> | undefined;
  /** The trace context of the request that created the measurement; undefined if the request was not traced. */
  traceparent: string | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export interface MeasurementWithSpec extends MeasurementOutline {
  spec: SignedMessage;
}

export interface MeasurementRecord extends MeasurementWithSpec {
  result: OfDuchy<Result> | undefined;
}

/** The consumer's own notes on a measurement, which the exchange stores and returns unchanged. */
type Labels = Omit<
  MeasurementInput,
  'measurementConsumerCertificate' | 'measurementSpec' | 'dataProviders' | 'protocolConfig'
>;

/** A requisition without its long fields. */
export interface RequisitionOutline {
  id: string;
  /** A name such as `dataProviders/x`. */
  provider: string;
  /** The ID of the provider's certificate. */
  certificate: string;
  nonceHash: Uint8Array;
  /** The duchy that receives the provider's data; undefined for a direct measurement. */
  fulfillingDuchy: string | undefined;
  state: RequisitionState;
  refusal: Refusal | undefined;
  /** The latest deferral. It is kept after the requisition is closed. */
  deferral: Deferral | undefined;
  fulfillment: Fulfillment<ResultOutline> | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

/** A requisition's long fields, which come from the consumer. */
export interface RequisitionContent {
  publicKey: EncryptionPublicKey;
  encryptedSpec: EncryptedRequisitionSpec;
}

export interface RequisitionWithContent extends RequisitionOutline, RequisitionContent {}

export interface RequisitionRecord extends RequisitionWithContent {
  fulfillment: Fulfillment<Result> | undefined;
}

interface Fulfillment<R extends ResultOutline> {
  nonce: bigint;
  /** The provider's own result; undefined if the provider sent its data to a duchy. */
  result: R | undefined;
  context: FulfillmentContext | undefined;
}

interface ResultOutline {
  /** The ID of the provider's or duchy's certificate whose key signed the result. */
  certificate: string;
}

interface Result extends ResultOutline {
  encryptedResult: EncryptedMessage;
}

/** `duchy` is the aggregator's name, such as `duchies/x`. */
type OfDuchy<R extends ResultOutline> = R & { duchy: string };

/** A duchy that takes part in computing a measurement. */
export interface ParticipantRecord {
  /** A name such as `duchies/x`. */
  duchy: string;
  role: DuchyRole;
  state: ParticipantState;
  parameters: DuchyParameters | undefined;
  version: number;
  /** When the computation last changed. It is the same for all participants. */
  updateTime: Timestamp;
}

/** The keys that each duchy must set before requisitions can be fulfilled. */
export interface DuchyParameters {
  /** The ID of the duchy's certificate. Its key signs both public keys. */
  certificate: string;
  /** An EncryptionPublicKey. */
  publicKey: SignedMessage | undefined;
  /** An ElGamalPublicKey. Only the Liquid Legions protocols need it. */
  elGamalPublicKey: SignedMessage | undefined;
}

/** A measurement with its requisitions and participants. The type parameters determine which fields are loaded. */
export interface AggregateOf<M extends MeasurementOutline, R extends RequisitionOutline> {
  measurement: M;
  requisitions: R[];
  /** Empty for a direct measurement. */
  participants: ParticipantRecord[];
}

export function measurementName({ consumer, id }: Pick<MeasurementOutline, 'consumer' | 'id'>): string {
  return `${consumer}/measurements/${id}`;
}

/** Returns all certificates that a measurement depends on. */
export function dependenciesOf({ measurement, requisitions, participants }: Outline) {
  return [
    { party: measurement.consumer, id: measurement.certificate },
    ...requisitions.flatMap(({ provider: party, certificate, fulfillment }) => [
      { party, id: certificate },
      { party, id: fulfillment?.result?.certificate },
    ]),
    ...participants.map(({ duchy: party, parameters }) => ({ party, id: parameters?.certificate })),
  ];
}

export type Outline = AggregateOf<MeasurementOutline, RequisitionOutline>;
export type Aggregate = AggregateOf<MeasurementRecord, RequisitionRecord>;

/** A transition, as stored in the log. */
export interface Step {
  /** The ID of a requisition, the name of a participant (`duchies/x`), or '' for the measurement. */
  subject: string;
  version: number;
  from: string | undefined;
  to: string;
  time: Timestamp;
  cause: Trigger;
}

export interface Change<A extends Outline = Aggregate> {
  after: A;
  steps: Step[];
}

/** All allowed transitions: resource, trigger, state before, and state after. */
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
  ['measurement', 'overdue', 'AWAITING_REQUISITION_FULFILLMENT', 'FAILED'],
  ['measurement', 'overdue', 'COMPUTING', 'FAILED'],
  ['requisition', 'created', undefined, 'UNFULFILLED'],
  // All duchies have set their parameters. From now on, the requisition includes them.
  ['requisition', 'parametersSet', 'UNFULFILLED', 'UNFULFILLED'],
  // The provider has explained why it cannot fulfill the requisition yet.
  ['requisition', 'deferred', 'UNFULFILLED', 'UNFULFILLED'],
  ['requisition', 'fulfilled', 'UNFULFILLED', 'FULFILLED'],
  ['requisition', 'refused', 'UNFULFILLED', 'REFUSED'],
  ['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'],
  ['participant', 'created', undefined, 'CREATED'],
  // In share-shuffle, duchies do not confirm that they have all data.
  ['participant', 'parametersSet', 'CREATED', 'READY'],
  ['participant', 'keysSet', 'CREATED', 'PARAMS_SET'],
  ['participant', 'confirmed', 'PARAMS_SET', 'READY'],
  ['participant', 'failed', 'CREATED', 'FAILED'],
  ['participant', 'failed', 'PARAMS_SET', 'FAILED'],
  ['participant', 'failed', 'READY', 'FAILED'],
] as const;

type Edge = (typeof EDGES)[number];
export type Trigger = Edge[1];
type MeasurementTrigger = Extract<Edge, readonly ['measurement', ...unknown[]]>[1];
/** The triggers that move a measurement into a given state. */
export type TriggerTo<State> = Extract<Edge, readonly ['measurement', string, unknown, State]>[1];
type RequisitionTrigger = Extract<Edge, readonly ['requisition', ...unknown[]]>[1];
type ParticipantTrigger = Extract<Edge, readonly ['participant', ...unknown[]]>[1];

/** Returns the state after a trigger, or undefined if the trigger is not allowed. */
export function target(resource: Edge[0], trigger: Trigger, from: string | undefined): string | undefined {
  return EDGES.find((e) => e[0] === resource && e[1] === trigger && e[2] === from)?.[3];
}

/** Builds a change to an aggregate. Every step follows one of EDGES, increments a version, and is logged. */
export class ChangeBuilder<A extends Outline> {
  private measurement: MeasurementOutline;
  requisitions: RequisitionOutline[];
  participants: ParticipantRecord[];
  private readonly now: Timestamp;
  private readonly steps: Step[] = [];

  constructor(before: A, now: Timestamp) {
    this.measurement = before.measurement;
    this.requisitions = before.requisitions;
    // Every change to a measurement also changes its computation.
    this.participants = before.participants.map((p) => ({
      ...p,
      updateTime: strictlyAfter(now, p.updateTime),
    }));
    this.now = now;
  }

  stepMeasurement(
    cause: MeasurementTrigger,
    fields: Partial<Pick<MeasurementRecord, 'failure' | 'result'>> = {},
  ): void {
    const changed = this.changed('measurement', '', this.measurement, cause);
    this.measurement = { ...changed, ...fields };
  }

  stepRequisition(
    requisition: RequisitionOutline,
    cause: RequisitionTrigger,
    fields: Partial<Pick<RequisitionRecord, 'refusal' | 'deferral' | 'fulfillment'>> = {},
  ): void {
    const changed = { ...this.changed('requisition', requisition.id, requisition, cause), ...fields };
    this.requisitions = this.requisitions.map((r) => (r.id === changed.id ? changed : r));
  }

  stepParticipant(
    { duchy }: ParticipantRecord,
    cause: ParticipantTrigger,
    fields: Partial<Pick<ParticipantRecord, 'parameters'>> = {},
  ): void {
    const participant = this.participants.find((p) => p.duchy === duchy)!;
    const { updateTime } = participant;
    const changed = { ...this.changed('participant', duchy, participant, cause, updateTime), ...fields };
    this.participants = this.participants.map((p) => (p.duchy === duchy ? changed : p));
  }

  /** Logs the step and returns the next version of the record. */
  private changed<R extends { state: string; version: number; updateTime: Timestamp }>(
    resource: Edge[0],
    subject: string,
    record: R,
    cause: Trigger,
    updateTime = strictlyAfter(this.now, record.updateTime),
  ): R {
    const from = record.state;
    const to = target(resource, cause, from);
    if (to === undefined) throw new Error(`no edge ${cause} out of ${resource} ${from}`);
    const version = record.version + 1;
    this.steps.push({ subject, version, from, to, time: updateTime, cause });
    return { ...record, state: to, version, updateTime };
  }

  /** Withdraws all open requisitions. A FULFILLED requisition stays FULFILLED, whatever happens to the measurement. */
  withdrawOpen(): void {
    for (const r of this.requisitions) {
      if (r.state === 'UNFULFILLED') this.stepRequisition(r, 'withdrawn');
    }
  }

  done(): Change<A> {
    const { measurement, requisitions, participants, steps } = this;
    // The cast is safe, because records keep the fields that were loaded, and a new result or fulfillment has all fields.
    return { after: { measurement, requisitions, participants } as A, steps };
  }
}
