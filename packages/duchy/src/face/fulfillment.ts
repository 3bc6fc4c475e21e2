/** Checks a provider's signed Fulfillment message against the computation, before the uploaded data is read. */
import { createHash } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { includesHash, nonceMatches } from '@measurement-exchange/consent';
import {
  type ComputationRequisition,
  decode,
  decodeMeasurementSpec,
  duchyMessages,
  ExchangeError,
  equalBytes,
  FULFILLMENT_PURPOSE,
  FulfillmentPart,
  invalid,
  type JsonValue,
  type SignedMessage,
  type Violation,
} from '@measurement-exchange/contract';
import { protocolMath } from '@measurement-exchange/mpc/protocols';
import { configOf } from '../computations/plan.ts';
import { mismatch } from '../computations/rejections.ts';
import { termsOf } from '../computations/terms.ts';
import { computationOfRequisition, type StoredComputation } from '../database/index.ts';
import { uploadRules } from '../protocols.ts';
import type { Receiving } from './receiving.ts';

export interface CheckedFulfillment {
  computation: StoredComputation;
  requisition: ComputationRequisition;
  signed: SignedMessage;
  fulfillment: duchyMessages.Fulfillment;
  /** The seed that the provider encrypted for the other worker. Empty in protocols without seeds. */
  secretSeed: Uint8Array;
}

/**
 * Decodes and checks a Fulfillment. Checks the nonce before the requisition's other values, so that a sender without
 * the nonce learns nothing about these values. Checks the certificate late, because that check may call the exchange.
 */
export async function checkFulfillment({ duchy, requireSigned }: Receiving, name: string, json: JsonValue) {
  const { signed, fulfillment } = readFulfillment(json);
  if (fulfillment.purpose !== FULFILLMENT_PURPOSE) {
    throw mismatch('fulfillment.purpose', `must be ${FULFILLMENT_PURPOSE}`);
  }
  if (fulfillment.requisition !== name)
    throw mismatch('fulfillment.requisition', `must be ${name}, as in the path`);
  if (fulfillment.duchy !== duchy.name)
    throw mismatch('fulfillment.duchy', `must be ${duchy.name}, which received it`);
  const computation = await computationOfRequisition(duchy.db, name);
  const requisition = computation?.view.requisitions.find((r) => r.name === name);
  if (computation === undefined || requisition === undefined) {
    const unknown = `This duchy does not know ${name} yet, or at all: retry later.`;
    throw new ExchangeError('REQUISITION_NOT_FOUND', unknown);
  }
  await requireConsented(fulfillment, computation, requisition);
  if (requisition.fulfillingDuchy !== duchy.name) {
    throw mismatch('fulfillment.duchy', `must be ${requisition.fulfillingDuchy}, which takes this upload`);
  }
  await requireTerms(fulfillment, computation);
  requireParameters(fulfillment, computation);
  const rules = uploadRules(computation.protocol);
  const secretSeed = rules.secretSeed(fulfillment, computation);
  const { dataProvider } = requisition;
  const { certificate } = fulfillment;
  const sender = { party: dataProvider, certificate, computation: computation.id };
  await requireSigned(signed, sender, 'fulfillment');
  // Skip this check if the computation has ended. The check needs secrets that are deleted when a computation ends, and
  // an ended computation accepts no new upload.
  if (computation.outcome === null) await rules.requireKeys?.(duchy, fulfillment, computation);
  return { computation, requisition, signed, fulfillment, secretSeed };
}

function readFulfillment(json: JsonValue): Pick<CheckedFulfillment, 'signed' | 'fulfillment'> {
  const violations: Violation[] = [];
  const part = decode(FulfillmentPart, json, violations);
  if (part === undefined) throw invalid(violations);
  const signed = part.fulfillment;
  try {
    return { signed, fulfillment: fromBinary(duchyMessages.FulfillmentSchema, signed.message) };
  } catch {
    throw invalid([
      { field: 'fulfillment.message', description: 'must be a serialized mex.contract.Fulfillment' },
    ]);
  }
}

async function requireTerms(
  { computation, termsSha256 }: duchyMessages.Fulfillment,
  stored: StoredComputation,
): Promise<void> {
  if (computation !== stored.id) {
    throw mismatch('fulfillment.computation', `must be ${stored.id}, which this duchy signed its key for`);
  }
  if (equalBytes(termsSha256, await termsOf(stored))) return;
  throw mismatch(
    'fulfillment.termsSha256',
    'must be the digest of what this duchy was told about the computation',
  );
}

function requireParameters(fulfillment: duchyMessages.Fulfillment, computation: StoredComputation): void {
  const { protocol, registerCount, view } = computation;
  if (fulfillment.protocol !== protocol) throw mismatch('fulfillment.protocol', `must be ${protocol}`);
  const population = protocolMath(protocol).populationOf(configOf(protocol, view));
  const { name, fingerprint } = population ?? NO_POPULATION;
  if (!equalBytes(fulfillment.populationFingerprint, fingerprint)) {
    throw mismatch('fulfillment.populationFingerprint', `must be that of ${name}`);
  }
  if (fulfillment.registerCount !== BigInt(registerCount)) {
    throw mismatch(
      'fulfillment.registerCount',
      `must be ${registerCount}, and is ${fulfillment.registerCount}`,
    );
  }
  const length = uploadRules(protocol).dataLength(computation);
  if (fulfillment.dataLength !== BigInt(length)) {
    throw mismatch('fulfillment.dataLength', `must be ${length}, and is ${fulfillment.dataLength}`);
  }
  if (fulfillment.dataSha256.length !== 32) throw mismatch('fulfillment.dataSha256', 'must be 32 bytes');
}

const NO_POPULATION = { name: 'no population: empty', fingerprint: new Uint8Array(0) };

/**
 * Checks that the nonce matches a nonce hash that the consumer signed, and that the fingerprint is the requisition's
 * fingerprint. A provider learns the nonce only by decrypting the requisition.
 */
async function requireConsented(
  { requisitionFingerprint, nonce }: duchyMessages.Fulfillment,
  { spec }: StoredComputation,
  { requisitionSpecHash, nonceHash }: ComputationRequisition,
): Promise<void> {
  const decoded = decodeMeasurementSpec(spec);
  const isSigned = 'spec' in decoded && includesHash(decoded.spec.nonceHashes, nonceHash);
  if (!isSigned || !(await nonceMatches(nonce, nonceHash))) {
    const description = 'must hash to the nonceHash of the requisition, which the consumer signed';
    throw new ExchangeError('NONCE_MISMATCH', `fulfillment.nonce: ${description}`, {
      violations: [{ field: 'fulfillment.nonce', description }],
    });
  }
  const fingerprint = createHash('sha256').update(spec).update(requisitionSpecHash).digest();
  if (!equalBytes(requisitionFingerprint, fingerprint)) {
    throw mismatch(
      'fulfillment.requisitionFingerprint',
      'must be the SHA-256 of the MeasurementSpec and the hash of the encrypted RequisitionSpec',
    );
  }
}
