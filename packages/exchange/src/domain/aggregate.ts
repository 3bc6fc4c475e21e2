/**
 * The records of a measurement, its requisitions, and its participants, and the allowed transitions between their
 * states.
 */
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

/** A measurement without its long fields, which can be megabytes long. */
export interface MeasurementOutline {
  id: string;
  /** A resource name such as `measurementConsumers/x`. */
  consumer: string;
  certificate: string;
  labels: Labels;
  measurementType: MeasurementType | undefined;
  protocol: Protocol;
  /** Undefined for a direct measurement, in which no duchy takes part. */
  protocolConfig: StoredProtocolConfig | undefined;
  state: MeasurementState;
  failure: { reason: FailureReason; message: string } | undefined;
  /** The duchies' joint result. In a direct measurement, each requisition has its own result. */
  result: OfDuchy<ResultOutline> | undefined;
  /** The trace context of the request that created the measurement. Undefined if the request was not traced. */
  traceparent: string | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export interface MeasurementWithSpec extends MeasurementOutline {
  spec: SignedMessage;
}

export interface MeasurementWithResult extends MeasurementWithSpec {
  result: OfDuchy<Result> | undefined;
}

export interface MeasurementRecord extends MeasurementWithResult {
  /** The consumer's original question, encrypted for the consumer alone. The exchange sends it to no other party. */
  question: EncryptedMessage | undefined;
}

/** Fields of the request that the exchange stores for the consumer and returns unchanged. */
type Labels = Omit<
  MeasurementInput,
  | 'measurementConsumerCertificate'
  | 'measurementSpec'
  | 'dataProviders'
  | 'encryptedQuestion'
  | 'protocolConfig'
>;

export interface RequisitionOutline {
  id: string;
  /** A resource name such as `dataProviders/x`. */
  provider: string;
  certificate: string;
  nonceHash: Uint8Array;
  /** The duchy that receives the provider's data. Undefined for a direct measurement. */
  fulfillingDuchy: string | undefined;
  state: RequisitionState;
  refusal: Refusal | undefined;
  /** The latest deferral, which stays after the requisition is closed. */
  deferral: Deferral | undefined;
  fulfillment: Fulfillment<ResultOutline> | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

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
  /** The provider's own result. Undefined if the provider sent its data to a duchy. */
  result: R | undefined;
  context: FulfillmentContext | undefined;
}

interface ResultOutline {
  /** The ID of the signer's certificate. The signer is a provider or a duchy. */
  certificate: string;
}

interface Result extends ResultOutline {
  encryptedResult: EncryptedMessage;
}

/** A result and the resource name of the aggregator that set it, such as `duchies/x`. */
type OfDuchy<R extends ResultOutline> = R & { duchy: string };

export interface ParticipantRecord {
  /** A resource name such as `duchies/x`. */
  duchy: string;
  role: DuchyRole;
  state: ParticipantState;
  parameters: DuchyParameters | undefined;
  version: number;
  /** The time of the computation's last change, which is the same for all participants. */
  updateTime: Timestamp;
}

/** The keys of a duchy. Requisitions can be fulfilled only after every duchy has set its keys. */
export interface DuchyParameters {
  /** The ID of the certificate whose private key signed both public keys. */
  certificate: string;
  publicKey: SignedMessage | undefined;
  /** A signed `ElGamalPublicKey` message. Only the Liquid Legions protocols need it. */
  elGamalPublicKey: SignedMessage | undefined;
}

/** A measurement with its requisitions and participants. `M` and `R` determine which fields are loaded. */
export interface AggregateOf<M extends MeasurementOutline, R extends RequisitionOutline> {
  measurement: M;
  requisitions: R[];
  /** Empty for a direct measurement. */
  participants: ParticipantRecord[];
}

export function measurementName({ consumer, id }: Pick<MeasurementOutline, 'consumer' | 'id'>): string {
  return `${consumer}/measurements/${id}`;
}

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

export interface Step {
  /** The changed resource: a requisition's ID, a participant's name (`duchies/x`), or '' for the measurement. */
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

/** All allowed transitions. Each row has the resource, the trigger, the state before, and the state after. */
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
  // All duchies have set their parameters. The requisition changes, because it includes these parameters.
  ['requisition', 'parametersSet', 'UNFULFILLED', 'UNFULFILLED'],
  // The provider has explained why it cannot fulfill the requisition yet.
  ['requisition', 'deferred', 'UNFULFILLED', 'UNFULFILLED'],
  ['requisition', 'fulfilled', 'UNFULFILLED', 'FULFILLED'],
  ['requisition', 'refused', 'UNFULFILLED', 'REFUSED'],
  ['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'],
  ['participant', 'created', undefined, 'CREATED'],
  // In the share shuffle protocol, a duchy is ready when it has set its parameters. In the other protocols, it must
  // also confirm that it has all data.
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
export type TriggerTo<State> = Extract<Edge, readonly ['measurement', string, unknown, State]>[1];
type RequisitionTrigger = Extract<Edge, readonly ['requisition', ...unknown[]]>[1];
type ParticipantTrigger = Extract<Edge, readonly ['participant', ...unknown[]]>[1];

/** Returns the state after a transition, or undefined if the trigger is not allowed in the state `from`. */
export function target(resource: Edge[0], trigger: Trigger, from: string | undefined): string | undefined {
  return EDGES.find((e) => e[0] === resource && e[1] === trigger && e[2] === from)?.[3];
}

/**
 * Builds a change step by step. Throws if a step is not in EDGES. Each step increments the version of the resource that
 * it changes, and becomes a row of the transition log.
 */
export class ChangeBuilder<A extends Outline> {
  private measurement: MeasurementOutline;
  requisitions: RequisitionOutline[];
  participants: ParticipantRecord[];
  private readonly now: Timestamp;
  private readonly steps: Step[] = [];

  constructor(before: A, now: Timestamp) {
    this.measurement = before.measurement;
    this.requisitions = before.requisitions;
    // Every change to a measurement is also a change to its computation, so all participants get a new update time.
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

  /** Withdraws open requisitions. A FULFILLED requisition stays FULFILLED, even if the measurement fails. */
  withdrawOpen(): void {
    for (const r of this.requisitions) {
      if (r.state === 'UNFULFILLED') this.stepRequisition(r, 'withdrawn');
    }
  }

  done(): Change<A> {
    const { measurement, requisitions, participants, steps } = this;
    // The cast to `A` is safe, because each step keeps all fields that were loaded, and a new result or fulfillment has
    // all of its fields.
    return { after: { measurement, requisitions, participants } as A, steps };
  }
}
