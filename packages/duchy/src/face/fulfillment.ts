/** What a provider signed about its upload, held against the computation before any of its data is read. */
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
  type ShareShuffleConfig,
  type SignedMessage,
  type Violation,
} from '@measurement-exchange/contract';
import { computationOfRequisition, type StoredComputation } from '../database/index.ts';
import { mismatch } from './errors.ts';
import { vectorHeader } from './received.ts';
import type { Receiving } from './receiving.ts';

export interface CheckedFulfillment {
  computation: StoredComputation;
  requisition: ComputationRequisition;
  config: ShareShuffleConfig;
  signed: SignedMessage;
  fulfillment: duchyMessages.Fulfillment;
  secretSeed: Uint8Array;
}

const PROTOCOL = 'honestMajorityShareShuffle';
const MAX_SEED_BYTES = 8 * 1024;

/**
 * The nonce comes first: who does not know it learns nothing about the requisition. The certificate comes last: only then
 * is the exchange asked for something.
 */
export async function checkFulfillment(
  { duchy, requireSigned }: Receiving,
  name: string,
  json: JsonValue,
): Promise<CheckedFulfillment> {
  const { signed, fulfillment } = readFulfillment(json);
  if (fulfillment.purpose !== FULFILLMENT_PURPOSE) {
    throw mismatch('fulfillment.purpose', `must be ${FULFILLMENT_PURPOSE}`);
  }
  if (fulfillment.requisition !== name)
    throw mismatch('fulfillment.requisition', `must be ${name}, as in the path`);
  if (fulfillment.duchy !== duchy.name)
    throw mismatch('fulfillment.duchy', `must be ${duchy.name}, which got it`);
  const computation = await computationOfRequisition(duchy.db, name);
  const requisition = computation?.view.requisitions.find((r) => r.name === name);
  if (computation === undefined || requisition === undefined) {
    throw new ExchangeError(
      'REQUISITION_NOT_FOUND',
      `This duchy does not know ${name} yet, or at all: retry later.`,
    );
  }
  await requireConsented(fulfillment, computation, requisition);
  if (requisition.fulfillingDuchy !== duchy.name) {
    throw mismatch('fulfillment.duchy', `must be ${requisition.fulfillingDuchy}, which takes this upload`);
  }
  const config = requireParameters(fulfillment, computation);
  const secretSeed = protocolDataIn(fulfillment, config);
  const { dataProvider } = requisition;
  const { certificate } = fulfillment;
  const sender = { party: dataProvider, certificate, computation: computation.id };
  await requireSigned(signed, sender, 'fulfillment');
  return { computation, requisition, config, signed, fulfillment, secretSeed };
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

/** That the provider shared the vector of this computation, and of no other population or length. */
function requireParameters(
  fulfillment: duchyMessages.Fulfillment,
  { view, registerCount }: StoredComputation,
): ShareShuffleConfig {
  const config = view.protocolConfig[PROTOCOL];
  if (config === undefined || fulfillment.protocol !== PROTOCOL) {
    throw mismatch('fulfillment.protocol', `must be ${Object.keys(view.protocolConfig).at(-1)}`);
  }
  if (!equalBytes(fulfillment.populationFingerprint, config.populationFingerprint)) {
    throw mismatch('fulfillment.populationFingerprint', `must be that of ${config.population}`);
  }
  if (fulfillment.registerCount !== BigInt(registerCount)) {
    throw mismatch(
      'fulfillment.registerCount',
      `must be ${registerCount}, and is ${fulfillment.registerCount}`,
    );
  }
  const length = vectorHeader(registerCount).length + registerCount;
  if (fulfillment.dataLength !== BigInt(length)) {
    throw mismatch('fulfillment.dataLength', `must be ${length}, and is ${fulfillment.dataLength}`);
  }
  if (fulfillment.dataSha256.length !== 32) throw mismatch('fulfillment.dataSha256', 'must be 32 bytes');
  return config;
}

/** That the provider opened the requisition which the consumer signed for it. */
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

const TERMS = ['firstWorker', 'secondWorker', 'aggregator', 'noiseMechanism', 'ringModulus'] as const;

/** The encrypted seed; the exchange told the provider the same about who computes, and how, as this duchy. */
function protocolDataIn({ protocolData }: duchyMessages.Fulfillment, config: ShareShuffleConfig): Uint8Array {
  const at = (field: string) => `fulfillment.${PROTOCOL}.${field}`;
  const data = protocolData.case === PROTOCOL ? protocolData.value : undefined;
  const seed = data?.secretSeed?.ciphertext;
  if (data === undefined || seed === undefined || seed.length === 0) {
    throw mismatch(at('secretSeed'), 'must be the encrypted seed');
  }
  if (seed.length > MAX_SEED_BYTES) {
    throw mismatch(at('secretSeed'), `must have at most ${MAX_SEED_BYTES} bytes`);
  }
  for (const term of TERMS) {
    if (data[term] !== config[term])
      throw mismatch(at(term), `must be ${config[term]}, as this duchy was told`);
  }
  return seed;
}
