import {
  createEncryptionKeysets,
  createSigner,
  type EncryptionKeysets,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import type { SignedMessage } from '@measurement-exchange/contract';
import { createRoot, issueLeaf, type Root } from './certificates.ts';

/** A party's keys and certificates. Everything except the certificates and the public keys is secret. */
export interface Identity {
  root: Root;
  certificatePem: string;
  privateKeyPem: string;
  keysets: EncryptionKeysets;
  publicKey: SignedMessage;
}

/**
 * Creates a party's keys and certificates. Reuses the root and the keysets of an earlier identity if they are given.
 */
export async function createIdentity(options: {
  /** The party's resource name, such as `dataProviders/lakeside`. If it is given, the certificate contains the name. */
  party?: string;
  commonName: string;
  /** The current time, in epoch milliseconds. */
  now: number;
  days: number;
  root?: Root;
  keysets?: EncryptionKeysets;
}): Promise<Identity> {
  const { party, now, days } = options;
  // Truncate the name to 59 characters. A common name has at most 64 characters (X.520, ub-common-name), and the root
  // adds " root".
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
 * Wraps a party's Tink keyset in an EncryptionPublicKey message and signs the message, so that the exchange cannot
 * replace the keyset. The private key is PKCS #8 in PEM.
 */
export async function signEncryptionKey(
  publicKeyset: Uint8Array,
  privateKeyPem: string,
): Promise<SignedMessage> {
  const signer = await createSigner(privateKeyPem);
  return signer.sign(packEncryptionPublicKey(publicKeyset));
}
