/**
 * The ElGamalPublicKey that a duchy publishes: a key, its binding, and a proof that the duchy knows the secret key.
 * Callers pass the functions that create and check proofs, because this package does not depend on packages/mpc, which
 * defines them.
 */
import type { Binding } from '@measurement-exchange/contract';
import { ConsentError } from '../base/errors.ts';
import { ELGAMAL_KEY_PURPOSE, requireBinding } from './binding.ts';
import { packElGamalPublicKey, unpackElGamalPublicKey } from './elGamalPublicKey.ts';

type Bound = Pick<Binding, 'purpose' | 'duchy' | 'computation' | 'termsSha256'>;
type KeyContext = Omit<Bound, 'purpose'>;

/** Returns the serialized key. The same key pair and context always produce the same bytes. */
export function publishedKey<P extends { publicKey: Uint8Array }>(
  pair: P,
  { duchy, computation, termsSha256 }: KeyContext,
  prove: (pair: P, binding: Bound) => Uint8Array,
): Uint8Array {
  const binding = { purpose: ELGAMAL_KEY_PURPOSE, duchy, computation, termsSha256 };
  return packElGamalPublicKey({ element: pair.publicKey, proof: prove(pair, binding), binding });
}

/** Returns the key as a compressed point. Throws ConsentError unless the message has this context and a valid proof. */
export function readPublishedKey(
  message: Uint8Array,
  context: KeyContext,
  isProven: (publicKey: Uint8Array, proof: Uint8Array, binding: Bound) => boolean,
): Uint8Array {
  const { element, proof, binding } = unpackElGamalPublicKey(message);
  const expected = { purpose: ELGAMAL_KEY_PURPOSE, ...context };
  requireBinding('The ElGamalPublicKey', binding, expected);
  if (isProven(element, proof, expected)) return element;
  throw new ConsentError(
    'KEY_NOT_SUPPORTED',
    'The ElGamalPublicKey has no proof that its duchy knows the secret: the key may combine keys of others.',
  );
}
