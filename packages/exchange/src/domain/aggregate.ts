/** A measurement with its requisitions and participants, and every transition between their states. */
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

/** A measurement without its long fields, which most rules do not need: together they may have megabytes. */
export interface MeasurementOutline {
  id: string;
  /** `measurementConsumers/x` */
  consumer: string;
  /** ID of the consumer's certificate. */
  certificate: string;
  labels: Labels;
  measurementType: MeasurementType | undefined;
  protocol: Protocol;
  /** Absent where no duchies compute. */
  protocolConfig: StoredProtocolConfig | undefined;
  state: MeasurementState;
  failure: { reason: FailureReason; message: string } | undefined;
  /** The result that the duchies computed together; a direct measurement has those of its requisitions. */
  result: ComputationResultOutline | undefined;
  /** The trace that it was created in, where that is traced. */
  traceparent: string | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export interface MeasurementWithSpec extends MeasurementOutline {
  spec: SignedMessage;
}

export interface MeasurementRecord extends MeasurementWithSpec {
  result: ComputationResult | undefined;
}

/** The consumer's own notes on a measurement, which the exchange stores and returns unchanged. */
export type Labels = Omit<
  MeasurementInput,
  'measurementConsumerCertificate' | 'measurementSpec' | 'dataProviders' | 'protocolConfig'
>;

/** A requisition without its long fields. */
export interface RequisitionOutline {
  id: string;
  /** `dataProviders/x` */
  provider: string;
  /** ID of the provider's certificate. */
  certificate: string;
  nonceHash: Uint8Array;
  /** The duchy that takes the provider's data, where duchies compute. */
  fulfillingDuchy: string | undefined;
  state: RequisitionState;
  refusal: Refusal | undefined;
  /** The latest; it stays when the requisition is closed. */
  deferral: Deferral | undefined;
  fulfillment: FulfillmentOutline | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

/** The long fields that the consumer sent. */
export interface RequisitionContent {
  publicKey: EncryptionPublicKey;
  encryptedSpec: EncryptedRequisitionSpec;
}

export interface RequisitionWithContent extends RequisitionOutline, RequisitionContent {}

export interface RequisitionRecord extends RequisitionWithContent {
  fulfillment: Fulfillment | undefined;
}

export interface FulfillmentOutline {
  nonce: bigint;
  /** The provider's own result; absent where its data went to a duchy. */
  result: DirectResultOutline | undefined;
  context: FulfillmentContext | undefined;
}

export interface Fulfillment extends FulfillmentOutline {
  result: DirectResult | undefined;
}

export interface DirectResultOutline {
  /** ID of the provider's certificate whose key signed the result. */
  certificate: string;
}

export interface DirectResult extends DirectResultOutline {
  encryptedResult: EncryptedMessage;
}

export interface ComputationResultOutline {
  /** `duchies/x`, the aggregator. */
  duchy: string;
  /** ID of the duchy's certificate whose key signed the result. */
  certificate: string;
}

export interface ComputationResult extends ComputationResultOutline {
  encryptedResult: EncryptedMessage;
}

/** A duchy's part in the computation of a measurement. */
export interface ParticipantRecord {
  /** `duchies/x` */
  duchy: string;
  role: DuchyRole;
  state: ParticipantState;
  parameters: DuchyParameters | undefined;
  version: number;
  /** When the computation last changed: the same for all participants. */
  updateTime: Timestamp;
}

/** The keys that a duchy sets before requisitions can be fulfilled. */
export interface DuchyParameters {
  /** ID of the duchy's certificate. */
  certificate: string;
  /** An EncryptionPublicKey, signed with the certificate's key. */
  publicKey: SignedMessage | undefined;
  /** In Liquid Legions: an ElGamalPublicKey, signed with the same key. */
  elGamalPublicKey: SignedMessage | undefined;
}

/** A measurement with its requisitions and participants, each with the fields that were loaded. */
export interface AggregateOf<M extends MeasurementOutline, R extends RequisitionOutline> {
  measurement: M;
  requisitions: R[];
  /** Empty where no duchies compute. */
  participants: ParticipantRecord[];
}

export type Outline = AggregateOf<MeasurementOutline, RequisitionOutline>;
export type Aggregate = AggregateOf<MeasurementRecord, RequisitionRecord>;

/** One step, for the log. */
export interface Step {
  /** A requisition's ID, a participant's name (`duchies/x`), or '' for the measurement itself. */
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

/** Every allowed transition: the resource, the trigger, and the states before and after. */
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
  // All duchies have set their parameters: the requisition shows them from now on.
  ['requisition', 'parametersSet', 'UNFULFILLED', 'UNFULFILLED'],
  // It waits for something that only its provider knows.
  ['requisition', 'deferred', 'UNFULFILLED', 'UNFULFILLED'],
  ['requisition', 'fulfilled', 'UNFULFILLED', 'FULFILLED'],
  ['requisition', 'refused', 'UNFULFILLED', 'REFUSED'],
  ['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'],
  ['participant', 'created', undefined, 'CREATED'],
  // In share-shuffle nothing is left to confirm once all data is there.
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
type RequisitionTrigger = Extract<Edge, readonly ['requisition', ...unknown[]]>[1];
type ParticipantTrigger = Extract<Edge, readonly ['participant', ...unknown[]]>[1];

/** The state after a trigger, or undefined where the trigger is not allowed. */
export function target(resource: Edge[0], trigger: Trigger, from: string | undefined): string | undefined {
  return EDGES.find((e) => e[0] === resource && e[1] === trigger && e[2] === from)?.[3];
}

/** Builds a change of an aggregate: every step is one of EDGES, increments the version, and is logged. */
export class ChangeBuilder<A extends Outline> {
  private measurement: MeasurementOutline;
  requisitions: RequisitionOutline[];
  participants: ParticipantRecord[];
  private readonly now: Timestamp;
  private readonly steps: Step[] = [];

  constructor(before: A, now: Timestamp) {
    this.measurement = before.measurement;
    this.requisitions = before.requisitions;
    // Every change of a measurement is a change of its computation.
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

  /** The next version of a record, whose step is logged. */
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

  /** Withdraws open requisitions; FULFILLED ones stay FULFILLED, whatever happens to the measurement. */
  withdrawOpen(): void {
    for (const r of this.requisitions) {
      if (r.state === 'UNFULFILLED') this.stepRequisition(r, 'withdrawn');
    }
  }

  done(): Change<A> {
    const { measurement, requisitions, participants, steps } = this;
    // Records keep the fields that they were loaded with, and a result or fulfillment that is set has all of its fields.
    return { after: { measurement, requisitions, participants } as A, steps };
  }
}
