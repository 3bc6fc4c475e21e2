/**
 * Changes that duchies make to a computation. A repeated request changes nothing, so a duchy that got no response can
 * safely repeat its request.
 */
import { hash } from 'node:crypto';
import {
  describeFailure,
  type EncryptedMessage,
  ExchangeError,
  equalBytes,
  type FailureCode,
  type FulfillmentContext,
  invalid,
  isTerminal,
  type MeasurementState,
  type Position,
  positionViolations,
  type Timestamp,
} from '@measurement-exchange/contract';
import {
  type AggregateOf,
  type Change,
  ChangeBuilder,
  type MeasurementWithResult,
  type Outline,
  type ParticipantRecord,
  type RequisitionOutline,
} from './aggregate.ts';
import { type Certificate, requireUsable } from './certificate.ts';
import { requireNonce, requisitionClosed } from './measurement.ts';
import {
  areParametersSet,
  computationName,
  computationState,
  computationVersion,
  hasConfirmation,
} from './participants.ts';

export function computationEtag(aggregate: Outline): string {
  const text = `computation ${aggregate.measurement.id} ${computationVersion(aggregate)}`;
  return hash('sha256', text).slice(0, 20);
}

interface FulfillRequisitionInput {
  etag: string;
  requisition: string;
  nonce: bigint;
  /** The hashes of the nonce, one for each encoding of the nonce that the exchange accepts. */
  nonceHashes: Uint8Array[];
  context: FulfillmentContext | undefined;
}

/**
 * Records that a duchy has stored a provider's data. After the last fulfillment, a share-shuffle computation starts. In
 * the other protocols, the computation first waits for confirmations from the duchies.
 */
export function fulfillRequisition<A extends Outline>(
  before: A,
  duchy: string,
  input: FulfillRequisitionInput,
  now: Timestamp,
): Change<A> {
  const { requisition: name, nonce, context } = input;
  const requisition = before.requisitions.find((r) => `${r.provider}/requisitions/${r.id}` === name);
  if (requisition === undefined) {
    throw new ExchangeError('REQUISITION_NOT_FOUND', `${name} is not a requisition of this computation.`, {
      metadata: { requisition: name },
    });
  }
  if (requisition.fulfillingDuchy !== duchy) {
    throw illegal(before, duchy, `The data of ${name} goes to ${requisition.fulfillingDuchy}.`);
  }
  if (requisition.fulfillment?.nonce === nonce) return unchanged(before);
  requireCurrent(before, duchy, input.etag);
  if (!areParametersSet(before)) {
    throw illegal(before, duchy, 'Not all duchies have set their parameters yet.');
  }
  if (requisition.state !== 'UNFULFILLED') throw requisitionClosed(name, requisition.state);
  requireNonce(requisition, input.nonceHashes);

  const changing = new ChangeBuilder(before, now);
  changing.stepRequisition(requisition, 'fulfilled', { fulfillment: { nonce, result: undefined, context } });
  if (changing.requisitions.every((r) => r.state === 'FULFILLED')) changing.stepMeasurement('allFulfilled');
  return changing.done();
}

interface ResultInput {
  etag: string;
  /** Undefined if the request names a certificate that does not exist. */
  certificate: Certificate | undefined;
  encryptedResult: EncryptedMessage;
}

export function setResult<A extends AggregateOf<MeasurementWithResult, RequisitionOutline>>(
  before: A,
  duchy: string,
  input: ResultInput,
  now: Timestamp,
): Change<A> {
  const own = participantOf(before, duchy);
  if (own.role !== 'AGGREGATOR') throw illegal(before, duchy, 'Only the aggregator sets a result.');
  const { result } = before.measurement;
  const { encryptedResult } = input;
  if (
    result !== undefined &&
    result.certificate === input.certificate?.id &&
    result.encryptedResult.typeUrl === encryptedResult.typeUrl &&
    equalBytes(result.encryptedResult.ciphertext, encryptedResult.ciphertext)
  ) {
    return unchanged(before);
  }
  requireCurrent(before, duchy, input.etag);
  const state = computationState(before);
  if (state !== 'COMPUTING') throw illegal(before, duchy, `The computation is ${state}, not COMPUTING.`);
  const certificate = requireUsable(input.certificate, 'certificate', now);

  const changing = new ChangeBuilder(before, now);
  changing.stepMeasurement('computed', { result: { duchy, certificate: certificate.id, encryptedResult } });
  return changing.done();
}

/** Records that a duchy gave up. The measurement fails, and its open requisitions are withdrawn. */
export function giveUp<A extends Outline>(
  before: A,
  duchy: string,
  input: { etag: string; code: FailureCode; position?: Position | undefined },
  now: Timestamp,
): Change<A> {
  const own = participantOf(before, duchy);
  requirePosition(before, input.position);
  const message = `${duchy} gave up: ${describeFailure(input.code, input.position)}`;
  if (own.state === 'FAILED' && before.measurement.failure?.message === message) return unchanged(before);
  requireCurrent(before, duchy, input.etag);

  const changing = new ChangeBuilder(before, now);
  changing.stepParticipant(own, 'failed');
  changing.stepMeasurement('participantFailed', {
    failure: { reason: 'COMPUTATION_PARTICIPANT_FAILED', message },
  });
  changing.withdrawOpen();
  return changing.done();
}

/**
 * Throws if the position of a failure names a resource outside this measurement. All parties of the measurement can
 * read the position, so it must not reveal other resources.
 */
export function requirePosition({ requisitions, participants }: Outline, position: Position = {}): void {
  const allowed = {
    requisition: requisitions.map(({ provider, id }) => `${provider}/requisitions/${id}`),
    dataProvider: requisitions.map(({ provider }) => provider),
    duchy: participants.map(({ duchy }) => duchy),
  };
  const violations = positionViolations(position);
  for (const [member, names] of Object.entries(allowed)) {
    const name = position[member as keyof typeof allowed];
    if (name === undefined || names.includes(name)) continue;
    violations.push({ field: `position.${member}`, description: 'must be part of the computation' });
  }
  if (violations.length > 0) throw invalid(violations);
}

/** Records a duchy's confirmation that it has all data. The last confirmation starts the computation. */
export function confirm<A extends Outline>(
  before: A,
  duchy: string,
  input: { etag: string },
  now: Timestamp,
): Change<A> {
  const own = participantOf(before, duchy);
  if (hasConfirmation(before.measurement) && own.state === 'READY') return unchanged(before);
  requireCurrent(before, duchy, input.etag);
  const state = computationState(before);
  if (state !== 'PENDING_CONFIRMATION') {
    throw illegal(before, duchy, `The computation is ${state}, not PENDING_CONFIRMATION.`);
  }
  const changing = new ChangeBuilder(before, now);
  changing.stepParticipant(own, 'confirmed');
  return changing.done();
}

/** Throws if the computation has ended. An ended computation accepts no progress reports and no changes. */
export function requireOpenComputation(aggregate: Outline, duchy: string): void {
  const state = computationState(aggregate);
  if (isTerminal(state as MeasurementState))
    throw illegal(aggregate, duchy, `The computation is ${state} and stays so.`);
}

export function participantOf({ participants }: Outline, duchy: string): ParticipantRecord {
  return participants.find((p) => p.duchy === duchy)!;
}

export function unchanged<A extends Outline>(before: A): Change<A> {
  return { after: before, steps: [] };
}

/**
 * Throws if the etag is not current. Reports an ended computation instead of a stale etag, because a new etag would not
 * help.
 */
export function requireCurrent(aggregate: Outline, duchy: string, etag: string): void {
  requireOpenComputation(aggregate, duchy);
  const actual = computationEtag(aggregate);
  if (etag === actual) return;
  throw new ExchangeError(
    'COMPUTATION_ETAG_MISMATCH',
    'The computation changed since it was read: read it again and retry with its etag.',
    { metadata: { requestEtag: etag, actualEtag: actual } },
  );
}

export function illegal(aggregate: Outline, duchy: string, message: string): ExchangeError {
  const computation = computationName(duchy, aggregate.measurement.id);
  return new ExchangeError('COMPUTATION_STATE_ILLEGAL', message, {
    metadata: { computation, state: computationState(aggregate) },
  });
}
