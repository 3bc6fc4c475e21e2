/** Binds a key or a seed to one computation. One that was signed for another computation is rejected. */
import { type Binding, equalBytes } from '@measurement-exchange/contract';
import { ConsentError } from '../base/errors.ts';

/** The purpose names the type of the signed message. */
export const ENCRYPTION_KEY_PURPOSE = 'mex.contract.EncryptionPublicKey';
export const ELGAMAL_KEY_PURPOSE = 'mex.contract.ElGamalPublicKey';
export const SEED_PURPOSE = 'mex.contract.RandomSeed';

/** A binding must have these values. The worker that receives a seed checks its commitment. */
export type BindingFields = Pick<Binding, 'purpose' | 'duchy' | 'computation' | 'termsSha256'> & {
  requisition?: string;
};

/** Throws ConsentError: BINDING_MISSING or BINDING_MISMATCH, and TERMS_DIFFER where only the digest is another one. */
export function requireBinding(what: string, found: Binding | undefined, expected: BindingFields): Binding {
  if (found === undefined) {
    throw new ConsentError(
      'BINDING_MISSING',
      `${what} says nothing about the computation it was made for: its signer runs an older version.`,
    );
  }
  for (const field of ['purpose', 'duchy', 'computation', 'requisition'] as const) {
    if (found[field] === (expected[field] ?? '')) continue;
    throw new ConsentError('BINDING_MISMATCH', `${what} was made for another ${field}.`);
  }
  if (!equalBytes(found.termsSha256, expected.termsSha256)) {
    throw new ConsentError(
      'TERMS_DIFFER',
      `${what} was made under other terms: its signer was told something else about the computation.`,
    );
  }
  return found;
}
