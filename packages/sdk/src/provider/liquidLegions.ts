/** For providers that encrypt their sketches themselves: the mathematics of Liquid Legions. */
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

/** The ElGamalPublicKey that a duchy publishes, serialized, and the same for the same pair and context. */
export function publishedKey(pair: ElGamalKeyPair, context: KeyContext): Uint8Array {
  return consent.publishedKey(pair, context, proveSecret);
}

/** The key, a compressed point. Throws ConsentError unless the message is one for this context with a valid proof. */
export function readPublishedKey(message: Uint8Array, context: KeyContext): Uint8Array {
  return consent.readPublishedKey(message, context, isProven);
}
