/**
 * Checks the binding of a key or seed: the signed fields that state its purpose, duchy, computation, and terms.
 * Without this check, a key or seed from another computation could be reused.
 */
import { type Binding, equalBytes } from '@measurement-exchange/contract';
import { ConsentError } from '../base/errors.ts';

/** The purposes of a binding. A purpose is the type name of the signed message. */
export const ENCRYPTION_KEY_PURPOSE = 'mex.contract.EncryptionPublicKey';
export const ELGAMAL_KEY_PURPOSE = 'mex.contract.ElGamalPublicKey';
export const SEED_PURPOSE = 'mex.contract.RandomSeed';

/**
 * The values that a binding must have. They do not include a seed's commitment, because the worker that receives the
 * seed checks the commitment separately.
 */
export type BindingFields = Pick<Binding, 'purpose' | 'duchy' | 'computation' | 'termsSha256'> & {
  requisition?: string;
};

/**
 * Returns the binding if it has the expected values. Otherwise, throws BINDING_MISSING, BINDING_MISMATCH, or, if only
 * the terms digest differs, TERMS_DIFFER.
 */
export function requireBinding(what: string, found: Binding | undefined, expected: BindingFields): Binding {
  if (found === undefined) {
    throw new ConsentError(
      'BINDING_MISSING',
      `${what} does not state the computation that it was made for: its signer runs an older version.`,
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
