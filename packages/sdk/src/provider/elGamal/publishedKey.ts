/** The ElGamalPublicKey that a duchy publishes: its key, what it is for, and the proof that the duchy knows the secret. */
import {
  ConsentError,
  ELGAMAL_KEY_PURPOSE,
  packElGamalPublicKey,
  requireBinding,
  unpackElGamalPublicKey,
} from '@measurement-exchange/consent';
import { Curve } from './curve.ts';
import type { ElGamalKeyPair } from './keys.ts';
import { isProven, type ProofContext, proveSecret } from './proof.ts';

/** Serialized, and the same for the same pair and context. */
export function publishedKey(pair: ElGamalKeyPair, context: ProofContext): Uint8Array {
  const { duchy, computation, termsSha256 } = context;
  return packElGamalPublicKey({
    element: pair.publicKey,
    proof: proveSecret(pair, context),
    binding: { purpose: ELGAMAL_KEY_PURPOSE, duchy, computation, termsSha256 },
  });
}

/**
 * The key, a compressed point. Throws ConsentError where the message is none, where it was made for something else, or where
 * its proof is not one of this key.
 */
export function readPublishedKey(message: Uint8Array, context: ProofContext): Uint8Array {
  const { element, proof, binding } = unpackElGamalPublicKey(message);
  requireBinding('The ElGamalPublicKey', binding, { purpose: ELGAMAL_KEY_PURPOSE, ...context });
  if (isProven(new Curve(1), element, proof, context)) return element;
  throw new ConsentError(
    'KEY_NOT_SUPPORTED',
    'The ElGamalPublicKey has no proof that its duchy knows the secret: the key may be made of those of others.',
  );
}
