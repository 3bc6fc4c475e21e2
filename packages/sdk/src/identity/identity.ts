import {
  createEncryptionKeysets,
  createSigner,
  type EncryptionKeysets,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import type { SignedMessage } from '@measurement-exchange/contract';
import { createRoot, issueLeaf, type Root } from './certificates.ts';

/** The keys and certificates of a party. Everything except the certificates and the public keys is secret. */
export interface Identity {
  root: Root;
  certificatePem: string;
  privateKeyPem: string;
  keysets: EncryptionKeysets;
  publicKey: SignedMessage;
}

/** Creates the keys and certificates of a party. A root and keysets of an earlier identity are reused if they are given. */
export async function createIdentity(options: {
  /** The resource name of the party, such as `dataProviders/lakeside`, which the certificate then contains. */
  party?: string;
  commonName: string;
  /** Epoch milliseconds. */
  now: number;
  /** The validity of the certificate. */
  days: number;
  root?: Root;
  keysets?: EncryptionKeysets;
}): Promise<Identity> {
  const { party, now, days } = options;
  // A common name has at most 64 characters (X.520, ub-common-name), and the root's ends with " root".
  const commonName = [...options.commonName].slice(0, 59).join('');
  const root = options.root ?? (await createRoot(`${commonName} root`, now));
  const keysets = options.keysets ?? (await createEncryptionKeysets());
  const { certificatePem, privateKeyPem } = await issueLeaf(root, commonName, now, {
    days,
    ...(party !== undefined && { party }),
  });
  const publicKey = await signEncryptionKey(keysets.publicKeyset, privateKeyPem);
  return { root, certificatePem, privateKeyPem, keysets, publicKey };
}

/**
 * Signs the encryption key of a party, so that the exchange cannot replace it with another: an EncryptionPublicKey with
 * this Tink keyset. The private key is PKCS#8 in PEM.
 */
export async function signEncryptionKey(
  publicKeyset: Uint8Array,
  privateKeyPem: string,
): Promise<SignedMessage> {
  const signer = await createSigner(privateKeyPem);
  return signer.sign(packEncryptionPublicKey(publicKeyset));
}
