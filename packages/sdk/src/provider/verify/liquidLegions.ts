/**
 * Verifies what the exchange says about a computation on encrypted sketches, before any is made: that the ring is of duchies
 * the provider knows, that each made its key for this computation under the same terms, and that the parameters hide what
 * they should.
 */
import { requisitionFingerprint, unpackElGamalPublicKey, type X509 } from '@measurement-exchange/consent';
import {
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
  liquidLegionsViolations,
  type PlainSpec,
  type Requisition,
  ringOf,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { Curve, combineKeys } from '@measurement-exchange/mpc/elGamal';
import { RefusalError, type RefusalPlace } from '../../refusals/refusalError.ts';
import { readPublishedKey } from '../liquidLegions.ts';
import {
  type AgreedTerms,
  type DuchyContext,
  duchyCertificate,
  privacyParamsOf,
  requireEntries,
  requireKnownDuchies,
  requireNoise,
  signedKey,
  termsOf,
} from './duchies.ts';
import { ACCEPTED_LEGIONS_NOISE, type DuchyTrust, type LiquidLegionsSettings } from './duchySettings.ts';

/** The computations that the provider accepts. */
export interface LiquidLegionsContext extends Pick<LiquidLegionsSettings, 'protocols' | 'noiseMechanisms'> {
  duchies: DuchyTrust;
}

/** A computation that passed every check. */
export interface VerifiedLiquidLegions extends AgreedTerms {
  protocol: LiquidLegionsProtocol;
  config: LiquidLegionsConfig;
  /** The fingerprint of the signed specification and the encrypted one. */
  fingerprint: Uint8Array;
  /** The duchy that takes the upload. */
  fulfillingDuchy: string;
  /** The sum of the keys of all duchies, under which registers are encrypted: a compressed point. */
  combinedPublicKey: Uint8Array;
}

export async function verifyLiquidLegions(
  requisition: Requisition,
  { protocol, config }: Pick<VerifiedLiquidLegions, 'protocol' | 'config'>,
  spec: PlainSpec,
  context: LiquidLegionsContext & DuchyContext,
): Promise<VerifiedLiquidLegions> {
  const at = (field: string) => `protocolConfig.${protocol}.${field}` as RefusalPlace;
  const ring = ringOf(config);
  const roles = ring.map((duchy, i) => {
    const role = i < config.workers.length ? 'worker' : 'aggregator';
    return { duchy, role, at: at(role === 'worker' ? 'workers' : role) };
  });
  requireKnownDuchies(roles, context.duchies);
  const [violation] = liquidLegionsViolations(config);
  if (violation) {
    const message = `${violation.field} of ${protocol} ${violation.description}.`;
    throw new RefusalError('PROTOCOL_INVALID', message, { at: at(violation.field) });
  }
  const { noiseMechanisms = ACCEPTED_LEGIONS_NOISE } = context;
  requireNoise(config.noiseMechanism, noiseMechanisms, privacyParamsOf(spec), at('noiseMechanism'));
  requireType(protocol, config, spec, at('maximumFrequency'));
  requireEntries(requisition, ring);
  const fulfillingDuchy = fulfillingWorker(requisition, config);
  // One after the other: where several are wrong, the refusal is the same each time.
  const published: [SignedMessage, X509][] = [];
  for (const duchy of ring) published.push(await publishedBy(duchy, requisition, protocol, context));
  const { binding } = await signedKey(...published[0]!, unpackElGamalPublicKey);
  const terms = await termsOf(requisition, spec, binding);
  const keys: Uint8Array[] = [];
  for (const [i, duchy] of ring.entries()) {
    keys.push(await signedKey(...published[i]!, (message) => readPublishedKey(message, { duchy, ...terms })));
  }
  return {
    protocol,
    config,
    // requireAddressedTo has checked that both are present.
    fingerprint: await requisitionFingerprint(
      requisition.measurementSpec!.message,
      requisition.encryptedRequisitionSpec!.ciphertext,
    ),
    ...terms,
    fulfillingDuchy,
    combinedPublicKey: combined(keys),
  };
}

/** Sketches without frequencies are for a reach alone; those with them, for no more than they can count. */
function requireType(
  protocol: LiquidLegionsProtocol,
  { maximumFrequency = 0 }: LiquidLegionsConfig,
  spec: PlainSpec,
  at: RefusalPlace,
): void {
  const isFrequency = spec.measurementType === 'REACH_AND_FREQUENCY';
  if (isFrequency !== (protocol === 'liquidLegionsV2')) {
    const message = `${spec.measurementType} is not computed with ${protocol}.`;
    throw new RefusalError('PROTOCOL_INVALID', message, { at: 'protocolConfig' });
  }
  if (!isFrequency || spec.reachAndFrequency.maximumFrequency <= maximumFrequency) return;
  const asked = spec.reachAndFrequency.maximumFrequency;
  const message = `The duchies count to ${maximumFrequency}, and the measurement asks for ${asked}.`;
  throw new RefusalError('PROTOCOL_INVALID', message, { at });
}

function fulfillingWorker({ fulfillingDuchy }: Requisition, { workers }: LiquidLegionsConfig): string {
  if (fulfillingDuchy !== undefined && workers.includes(fulfillingDuchy)) return fulfillingDuchy;
  const message = `fulfillingDuchy is ${fulfillingDuchy}, which is no worker.`;
  throw new RefusalError('DUCHIES_INVALID', message, { at: 'fulfillingDuchy' });
}

/** The key of a duchy as it was published, and the certificate that has to have signed it. */
async function publishedBy(
  duchy: string,
  requisition: Requisition,
  protocol: LiquidLegionsProtocol,
  context: DuchyContext,
): Promise<[SignedMessage, X509]> {
  const entry = requisition.duchies![duchy]!;
  const certificate = await duchyCertificate(duchy, entry.duchyCertificate, context);
  const key = entry[protocol]?.elGamalPublicKey;
  if (key !== undefined) return [key, certificate];
  throw new RefusalError('DUCHIES_INVALID', `${duchy} has no elGamalPublicKey.`, { at: 'duchies' });
}

function combined(keys: readonly Uint8Array[]): Uint8Array {
  try {
    return combineKeys(new Curve(keys.length), keys);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `The keys of the duchies cannot be used together: ${error.message}.`;
    throw new RefusalError('DUCHY_KEY_INVALID', message, { at: 'duchies' });
  }
}
