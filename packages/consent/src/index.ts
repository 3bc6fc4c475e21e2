export {
  type BindingFields,
  ELGAMAL_KEY_PURPOSE,
  ENCRYPTION_KEY_PURPOSE,
  requireBinding,
  SEED_PURPOSE,
} from './binding.ts';
export {
  type CertificateKey,
  cachedCertificate,
  MAX_CERTIFICATE_BYTES,
  parseCertificate,
  partyUri,
  type X509,
} from './certificates.ts';
export { packElGamalPublicKey, unpackElGamalPublicKey } from './elGamalPublicKey.ts';
export { ConsentError, type ConsentErrorCode } from './errors.ts';
export { decrypt, encrypt } from './hybrid.ts';
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
} from './keysets.ts';
export {
  includesHash,
  nonceHash,
  nonceHashes,
  nonceMatches,
  randomNonce,
  requisitionFingerprint,
} from './nonce.ts';
export {
  packEncryptionPublicKey,
  resultKeysetOf,
  unpackBoundPublicKey,
  unpackEncryptionPublicKey,
} from './publicKey.ts';
export { createSigner, isSignedBy, publicKeyOf, type Signer, verifySignature } from './signatures.ts';
export { packSignedMessage, unpackSignedMessage } from './signedMessage.ts';
export { seedCommitment, type Terms, termsDigest } from './terms.ts';
export type { DecryptionKey, EciesKey, EncryptionKey, HpkeKey } from './tinkKeys.ts';
export {
  createTrustStore,
  type Root,
  requireRoot,
  requireTrusted,
  type TrustedRoot,
  type TrustStore,
} from './trust.ts';
