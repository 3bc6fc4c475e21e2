/** The ElGamalPublicKey that a duchy publishes: its key, with the proof that it knows the secret. */
import { ConsentError, packElGamalPublicKey, unpackElGamalPublicKey } from '@measurement-exchange/consent';
import { Curve } from './curve.ts';
import type { ElGamalKeyPair } from './keys.ts';
import { isProven, proveSecret } from './proof.ts';

/** Serialized, and the same for the same pair. */
export function publishedKey(pair: ElGamalKeyPair): Uint8Array {
  return packElGamalPublicKey({ element: pair.publicKey, proof: proveSecret(pair) });
}

/** The key, a compressed point. Throws ConsentError where the message is none, or its proof is not one of this key. */
export function readPublishedKey(message: Uint8Array): Uint8Array {
  const { element, proof } = unpackElGamalPublicKey(message);
  if (isProven(new Curve(1), element, proof)) return element;
  throw new ConsentError(
    'KEY_NOT_SUPPORTED',
    'The ElGamalPublicKey has no proof that its duchy knows the secret: the key may be made of those of others.',
  );
}
