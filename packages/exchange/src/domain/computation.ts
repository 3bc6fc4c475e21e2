/**
 * What duchies do to the computation of a measurement. Each function takes the time and returns the steps to log; none
 * where the same was done before, so that whoever has lost a response may repeat the request.
 */
import { hash } from 'node:crypto';
import {
  type ComputationState,
  type EncryptedMessage,
  ExchangeError,
  equalBytes,
  type FulfillmentContext,
  invalid,
  isTerminal,
  type MeasurementState,
  type SignedMessage,
  type Timestamp,
} from '@measurement-exchange/contract';
import {
  type Aggregate,
  type Change,
  Changing,
  type DuchyParameters,
  type ParticipantRecord,
} from './aggregate.ts';
import { type Certificate, requireUsable } from './certificate.ts';
import { requireNonce, requisitionClosed } from './measurement.ts';
import { areParametersSet, computationState } from './participants.ts';
import { requireEncryptionPublicKey } from './party.ts';

/** Changes with everything that a duchy sees: derived from the versions of all parts, never from a clock. */
export function computationEtag({ measurement, requisitions, participants }: Aggregate): string {
  const parts = [measurement, ...requisitions, ...participants];
  const version = parts.reduce((sum, part) => sum + part.version, 0);
  return hash('sha256', `computation ${measurement.id} ${version}`).slice(0, 20);
}

export interface ParametersInput {
  etag: string;
  /** The certificate named in the request, if it exists. */
  certificate: Certificate | undefined;
  publicKey: SignedMessage | undefined;
  /** Whether the key of the certificate signed the public key. */
  isKeySigned: boolean;
}

/** The key is handed on in every requisition of the measurement. */
const MAX_KEY_BYTES = 1024;
const KEY = 'honestMajorityShareShuffle.publicKey';

/** What can be said of a key without looking anything up. */
export function requireParametersKey(key: SignedMessage | undefined): void {
  for (const member of ['message', 'signature'] as const) {
    if ((key?.[member].length ?? 0) <= MAX_KEY_BYTES) continue;
    throw invalid([{ field: `${KEY}.${member}`, description: `must be at most ${MAX_KEY_BYTES} bytes` }]);
  }
  requireEncryptionPublicKey(key, KEY);
}

/** The last participant to set its parameters makes the requisitions ready to be fulfilled. */
export function setParameters(
  before: Aggregate,
  duchy: string,
  input: ParametersInput,
  now: Timestamp,
): Change {
  const own = participantOf(before, duchy);
  if (own.parameters !== undefined && isSame(own.parameters, input)) return unchanged(before);
  requireCurrent(before, duchy, input.etag);
  if (own.parameters !== undefined) {
    throw illegal(before, duchy, `${duchy} has set other parameters already, and they stay.`);
  }
  const certificate = requireUsable(input.certificate, 'certificate', now);
  requireKey(own, input);

  const changing = new Changing(before, now);
  const { publicKey } = input;
  changing.stepParticipant(own, 'parametersSet', { parameters: { certificate: certificate.id, publicKey } });
  if (areParametersSet(changing)) {
    for (const requisition of changing.requisitions) changing.stepRequisition(requisition, 'parametersSet');
  }
  return changing.done();
}

function isSame(stored: DuchyParameters, { certificate, publicKey }: ParametersInput): boolean {
  return stored.certificate === certificate?.id && isSameMessage(stored.publicKey, publicKey);
}

function isSameMessage(a: SignedMessage | undefined, b: SignedMessage | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    equalBytes(a.message, b.message) &&
    equalBytes(a.signature, b.signature) &&
    a.signatureAlgorithm === b.signatureAlgorithm
  );
}

/** Data providers encrypt for a worker, never for the aggregator. */
function requireKey({ role }: ParticipantRecord, { publicKey, isKeySigned }: ParametersInput): void {
  if (publicKey === undefined) {
    if (role === 'AGGREGATOR') return;
    throw invalid([{ field: KEY, description: 'must be set by a worker' }]);
  }
  if (isKeySigned) return;
  const description = 'is not one over message by the key of certificate';
  throw invalid([{ field: `${KEY}.signature`, description }]);
}

export interface FulfillRequisitionInput {
  etag: string;
  /** `dataProviders/x/requisitions/y` */
  requisition: string;
  nonce: bigint;
  /** What the nonce may hash to. */
  nonceHashes: Uint8Array[];
  context: FulfillmentContext | undefined;
}

/** A provider's data is stored at the duchy. The last requisition starts the computation. */
export function fulfillRequisition(
  before: Aggregate,
  duchy: string,
  input: FulfillRequisitionInput,
  now: Timestamp,
): Change {
  const { requisition: name, nonce, context } = input;
  const requisition = before.requisitions.find((r) => `${r.provider}/requisitions/${r.id}` === name);
  if (requisition === undefined) {
    throw new ExchangeError('REQUISITION_NOT_FOUND', `${name} is no requisition of this computation.`, {
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

  const changing = new Changing(before, now);
  changing.stepRequisition(requisition, 'fulfilled', { fulfillment: { nonce, result: undefined, context } });
  if (changing.requisitions.every((r) => r.state === 'FULFILLED')) changing.stepMeasurement('allFulfilled');
  return changing.done();
}

export interface ResultInput {
  etag: string;
  /** The certificate named in the request, if it exists. */
  certificate: Certificate | undefined;
  encryptedResult: EncryptedMessage;
}

/** The aggregator has the result, the only one there is. */
export function setResult(before: Aggregate, duchy: string, input: ResultInput, now: Timestamp): Change {
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

  const changing = new Changing(before, now);
  changing.stepMeasurement('computed', { result: { duchy, certificate: certificate.id, encryptedResult } });
  return changing.done();
}

/** A duchy gives up: the measurement fails, and its open requisitions are withdrawn. */
export function giveUp(
  before: Aggregate,
  duchy: string,
  input: { etag: string; message: string },
  now: Timestamp,
): Change {
  const own = participantOf(before, duchy);
  const message = `${duchy} gave up: ${input.message}`;
  if (own.state === 'FAILED' && before.measurement.failure?.message === message) return unchanged(before);
  requireCurrent(before, duchy, input.etag);

  const changing = new Changing(before, now);
  changing.stepParticipant(own, 'failed');
  changing.stepMeasurement('participantFailed', {
    failure: { reason: 'COMPUTATION_PARTICIPANT_FAILED', message },
  });
  changing.withdrawOpen();
  return changing.done();
}

/** In HonestMajorityShareShuffle nothing is left to confirm once the requisitions are fulfilled. */
export function confirm(before: Aggregate, duchy: string, input: { etag: string }): never {
  requireCurrent(before, duchy, input.etag);
  throw illegal(before, duchy, `${before.measurement.protocol} has no confirmation.`);
}

/** Progress is reported until the computation ends. */
export function requireOpenComputation(aggregate: Aggregate, duchy: string): void {
  const state = computationState(aggregate);
  if (isFinal(state)) throw illegal(aggregate, duchy, `The computation is ${state} and stays so.`);
}

function participantOf({ participants }: Aggregate, duchy: string): ParticipantRecord {
  return participants.find((p) => p.duchy === duchy)!;
}

function unchanged(before: Aggregate): Change {
  return { after: before, steps: [] };
}

function isFinal(state: ComputationState): boolean {
  return isTerminal(state as MeasurementState);
}

/** That it has ended is said whatever the etag: reading it again would not help. */
function requireCurrent(aggregate: Aggregate, duchy: string, etag: string): void {
  requireOpenComputation(aggregate, duchy);
  const actual = computationEtag(aggregate);
  if (etag === actual) return;
  throw new ExchangeError(
    'COMPUTATION_ETAG_MISMATCH',
    'The computation changed since it was read: read it again and retry with its etag.',
    { metadata: { requestEtag: etag, actualEtag: actual } },
  );
}

function illegal(aggregate: Aggregate, duchy: string, message: string): ExchangeError {
  const computation = computationName(duchy, aggregate.measurement.id);
  return new ExchangeError('COMPUTATION_STATE_ILLEGAL', message, {
    metadata: { computation, state: computationState(aggregate) },
  });
}

export function computationName(duchy: string, id: string): string {
  return `${duchy}/computations/${id}`;
}
