/**
 * Checks a requisition's keys and nonce, which show that the requisition is for this provider, and that both
 * specifications belong to the same measurement.
 */
import {
  ConsentError,
  decrypt,
  nonceMatches,
  readPublicKeyset,
  resultKeysetOf,
  unpackSignedMessage,
} from '@measurement-exchange/consent';
import { equalBytes, type PlainSpec, type SignedMessage } from '@measurement-exchange/contract';
import type { Credentials } from '../../identity/credentials.ts';
import { type RetryableCode, refuseOnConsentError } from '../../refusals/consentRefusal.ts';
import { RefusalError } from '../../refusals/refusalError.ts';
import type { Parts } from './parts.ts';
import type { PlainRequisitionSpec } from './requisitionSpec.ts';

/** A provider's key pair. Consumers encrypt with the public key, and the provider decrypts with the private key. */
export type EncryptionKeys = Pick<Credentials, 'encryptionPublicKey' | 'encryptionPrivateKey'>;

export function ownKey({ dataProviderPublicKey }: Parts, keys: EncryptionKeys[]): EncryptionKeys {
  const key = keys.find(({ encryptionPublicKey }) =>
    equalBytes(encryptionPublicKey, dataProviderPublicKey.data),
  );
  if (key) return key;
  throw new RefusalError('PROVIDER_KEY_UNKNOWN', 'dataProviderPublicKey is not a key of this provider.', {
    at: 'dataProviderPublicKey',
  });
}

export async function decryptRequisitionSpec(parts: Parts, key: EncryptionKeys): Promise<SignedMessage> {
  const { ciphertext } = parts.encryptedRequisitionSpec;
  const opened = decrypt(key.encryptionPrivateKey, ciphertext).then(unpackSignedMessage);
  return refuseOnConsentError('DECRYPTION_FAILED', 'encryptedRequisitionSpec', opened, isOwnKeyError);
}

/**
 * Returns the result key, which must be the same in both specifications. If the keys differ, one specification is from
 * another measurement.
 */
export async function sameResultKey(
  spec: PlainSpec,
  requisitionSpec: PlainRequisitionSpec,
): Promise<Uint8Array> {
  const [theirs, ours] = [spec.measurementPublicKey!, requisitionSpec.measurementPublicKey];
  const sameType =
    theirs.typeUrl === undefined || ours.typeUrl === undefined || theirs.typeUrl === ours.typeUrl;
  if (!sameType || !equalBytes(theirs.value, ours.value)) {
    throw new RefusalError('RESULT_KEY_MISMATCH', 'The two specifications differ in measurementPublicKey.', {
      at: 'requisitionSpec.measurementPublicKey',
    });
  }
  try {
    const keyset = resultKeysetOf(theirs);
    await readPublicKeyset(keyset);
    return keyset;
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    const at = 'measurementSpec.measurementPublicKey';
    const message = `measurementPublicKey: ${error.message}`;
    throw new RefusalError('RESULT_KEY_INVALID', message, { at, cause: error });
  }
}

/**
 * Requires that the nonce hashes to the requisition's nonceHash, and that this hash is in the signed MeasurementSpec.
 */
export async function requireNonce(
  nonce: bigint,
  hash: Uint8Array,
  signedHashes: Uint8Array[],
): Promise<void> {
  if (nonce === 0n || !(await nonceMatches(nonce, hash))) {
    throw new RefusalError('NONCE_MISMATCH', 'The nonce of the RequisitionSpec does not hash to nonceHash.', {
      at: 'requisitionSpec.nonce',
    });
  }
  if (!signedHashes.some((signed) => equalBytes(signed, hash))) {
    const message = 'nonceHash is not among the nonceHashes of the MeasurementSpec.';
    throw new RefusalError('NONCE_NOT_SIGNED', message, { at: 'nonceHash' });
  }
}

const isOwnKeyError: RetryableCode = (code) => code.startsWith('KEY');
