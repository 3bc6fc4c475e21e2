export { ConsentError, type ConsentErrorCode } from './base/errors.ts';
export {
  type CertificateKey,
  cachedCertificate,
  MAX_CERTIFICATE_BYTES,
  parseCertificate,
  parseCertificatePem,
  partyUri,
  type X509,
} from './certificates/certificates.ts';
export { decrypt, encrypt } from './encryption/hybrid.ts';
export {
  createEncryptionKeysets,
  deriveEncryptionKeysets,
  type EncryptionKeysets,
  type Keyset,
  type KeyTemplate,
  publicKeysetOf,
  readPrivateKeyset,
  readPublicKeyset,
  saltOf,
} from './keysets/keysets.ts';
export type { DecryptionKey, EciesKey, EncryptionKey, HpkeKey } from './keysets/tinkKeys.ts';
export {
  type BindingFields,
  ELGAMAL_KEY_PURPOSE,
  ENCRYPTION_KEY_PURPOSE,
  requireBinding,
  SEED_PURPOSE,
} from './messages/binding.ts';
export { packElGamalPublicKey, unpackElGamalPublicKey } from './messages/elGamalPublicKey.ts';
export {
  includesHash,
  nonceHash,
  nonceHashes,
  nonceMatches,
  randomNonce,
  requisitionFingerprint,
  sameHashes,
} from './messages/nonce.ts';
export {
  packEncryptionPublicKey,
  resultKeysetOf,
  unpackBoundPublicKey,
  unpackEncryptionPublicKey,
} from './messages/publicKey.ts';
export { publishedKey, readPublishedKey } from './messages/publishedKey.ts';
export { packSignedMessage, unpackSignedMessage } from './messages/signedMessage.ts';
export { seedCommitment, type Terms, termsDigest } from './messages/terms.ts';
export {
  createSigner,
  isSignedBy,
  publicKeyOf,
  type Signer,
  verifySignature,
} from './signatures/signatures.ts';
export {
  createTrustStore,
  isIssuedBy,
  type Root,
  requireForClient,
  requireRoot,
  requireTrusted,
  type TrustedRoot,
  type TrustStore,
} from './trust/trust.ts';
