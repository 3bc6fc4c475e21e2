/**
 * Verifies a computation on encrypted sketches before the provider makes its sketch. The provider must accept all
 * duchies. The duchies must have made their keys for this computation, and for the same measurement spec and protocol
 * settings that the provider received. The parameters must protect the data well enough.
 */
import { unpackElGamalPublicKey, type X509 } from '@measurement-exchange/consent';
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
  type DuchyContext,
  fingerprintIn,
  fulfillingWorker,
  privacyParamsOf,
  publishedKey,
  requireEntries,
  requireKnownDuchies,
  requireNoise,
  signedKey,
  termsOf,
  type VerifiedComputation,
} from './duchies.ts';
import { ACCEPTED_LEGIONS_NOISE, type DuchyTrust, type LiquidLegionsSettings } from './duchySettings.ts';

/** The protocols, noise mechanisms, and duchies that the provider accepts. */
export interface LiquidLegionsContext extends Pick<LiquidLegionsSettings, 'protocols' | 'noiseMechanisms'> {
  duchies: DuchyTrust;
}

/** A computation that passed every check. */
export interface VerifiedLiquidLegions extends VerifiedComputation {
  protocol: LiquidLegionsProtocol;
  config: LiquidLegionsConfig;
  /** The public key that encrypts the registers: the sum of all duchies' keys, as a compressed point. */
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
  const fulfillingDuchy = fulfillingWorker(requisition, config.workers);
  // Check the keys in order, one by one, so that the refusal is always for the first invalid key.
  const published: [SignedMessage, X509][] = [];
  for (const duchy of ring) {
    published.push(await publishedKey(requisition, duchy, [protocol, 'elGamalPublicKey'], context));
  }
  const { binding } = await signedKey(...published[0]!, unpackElGamalPublicKey);
  const terms = await termsOf(requisition, spec, binding);
  const keys: Uint8Array[] = [];
  for (const [i, duchy] of ring.entries()) {
    keys.push(await signedKey(...published[i]!, (message) => readPublishedKey(message, { duchy, ...terms })));
  }
  const fingerprint = await fingerprintIn(requisition);
  return { protocol, config, fingerprint, ...terms, fulfillingDuchy, combinedPublicKey: combined(keys) };
}

/**
 * Requires the protocol that matches the measurement type. A frequency measurement also requires that the duchies count
 * at least up to the requested maximum frequency.
 */
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

function combined(keys: readonly Uint8Array[]): Uint8Array {
  try {
    return combineKeys(new Curve(keys.length), keys);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `The keys of the duchies cannot be used together: ${error.message}.`;
    throw new RefusalError('DUCHY_KEY_INVALID', message, { at: 'duchies' });
  }
}
