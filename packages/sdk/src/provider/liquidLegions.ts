/** Liquid Legions math, for providers that encrypt their sketches without this SDK's agent. */
import * as consent from '@measurement-exchange/consent';
import {
  type ElGamalKeyPair,
  isProven,
  type ProofContext,
  proveSecret,
} from '@measurement-exchange/mpc/sketches';

export { FrequencySketch } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
export { ReachSketch } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
export * from '@measurement-exchange/mpc/sketches';

type KeyContext = Omit<ProofContext, 'purpose'>;

/**
 * Returns the serialized ElGamalPublicKey that a duchy publishes. The same key pair and context always give the same
 * bytes.
 */
export function publishedKey(pair: ElGamalKeyPair, context: KeyContext): Uint8Array {
  return consent.publishedKey(pair, context, proveSecret);
}

/**
 * Reads a published key, and returns it as a compressed point. Throws ConsentError if the message has no valid proof
 * for this context.
 */
export function readPublishedKey(message: Uint8Array, context: KeyContext): Uint8Array {
  return consent.readPublishedKey(message, context, isProven);
}
