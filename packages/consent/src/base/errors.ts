/** The codes of ConsentError, one for each kind of fault. */
export type ConsentErrorCode =
  | 'KEYSET_MALFORMED'
  | 'KEYSET_NO_PRIMARY'
  | 'KEYSET_NOT_PUBLIC'
  | 'KEYSET_NOT_PRIVATE'
  | 'KEY_NOT_SUPPORTED'
  | 'KEY_NOT_ON_CURVE'
  | 'KEY_OF_SMALL_ORDER'
  | 'KEY_OUT_OF_RANGE'
  | 'KEY_PAIR_MISMATCH'
  | 'POINT_NOT_ON_CURVE'
  | 'CIPHERTEXT_TRUNCATED'
  | 'NO_MATCHING_KEY'
  | 'DECRYPTION_FAILED'
  | 'MESSAGE_MALFORMED'
  | 'BINDING_MISSING'
  | 'BINDING_MISMATCH'
  | 'TERMS_DIFFER'
  | 'PRIVATE_KEY_MALFORMED'
  | 'SIGNATURE_MALFORMED'
  | 'SIGNATURE_INVALID'
  | 'SIGNATURE_ALGORITHM_UNKNOWN'
  | 'SIGNATURE_ALGORITHM_MISMATCH'
  | 'CERTIFICATE_MALFORMED'
  | 'CERTIFICATE_NOT_YET_VALID'
  | 'CERTIFICATE_EXPIRED'
  | 'CERTIFICATE_UNTRUSTED'
  | 'CERTIFICATE_OF_ANOTHER_PARTY'
  | 'CERTIFICATE_NAMES_NO_PARTY'
  | 'CERTIFICATE_NOT_ISSUED_BY_ROOT'
  | 'CERTIFICATE_CHAIN_TOO_LONG'
  | 'CERTIFICATE_KEY_USAGE'
  | 'CERTIFICATE_EXTENSION_UNKNOWN'
  | 'ROOT_INVALID'
  | 'ROOT_NOT_YET_VALID'
  | 'ROOT_EXPIRED';

/**
 * The error that this package throws. Its message contains no secrets, and at most short parts of the input, such as a
 * certificate's subject.
 */
export class ConsentError extends Error {
  readonly code: ConsentErrorCode;

  constructor(code: ConsentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConsentError';
    this.code = code;
  }
}

export function decryptionFailed(): ConsentError {
  return new ConsentError(
    'DECRYPTION_FAILED',
    'The ciphertext does not decrypt with the key: it was changed, or is for another key.',
  );
}
