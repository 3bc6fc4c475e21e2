/**
 * The keys and certificates that a party needs to take part: a root, a signing key with its certificate, and a signed
 * encryption key.
 */

import {
  createEncryptionKeysets,
  createSigner,
  type EncryptionKeysets,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import type { SignedMessage } from '@measurement-exchange/contract';
import { createRoot, issueLeaf, type Root } from './certificates.ts';

/** All that makes up a party. Everything that is neither a certificate nor public is secret. */
export interface Identity {
  root: Root;
  certificatePem: string;
  privateKeyPem: string;
  keysets: EncryptionKeysets;
  publicKey: SignedMessage;
}

/** A new identity. The root and the keysets are taken over from an earlier one where they are given. */
export async function createIdentity(options: {
  /** The resource name of the party, which the certificate then names: `dataProviders/lakeside`. */
  party?: string;
  commonName: string;
  /** Epoch milliseconds. */
  now: number;
  /** How long the certificate is valid. */
  days: number;
  root?: Root;
  keysets?: EncryptionKeysets;
}): Promise<Identity> {
  const { party, now, days } = options;
  // 64 characters at most, those of the root included (X.520, ub-common-name).
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
 * The encryption key of a party as others fetch it: an EncryptionPublicKey with this Tink keyset, signed (the
 * key is PKCS #8 in PEM), so that the exchange cannot put another in its place.
 */
export async function signEncryptionKey(
  publicKeyset: Uint8Array,
  privateKeyPem: string,
): Promise<SignedMessage> {
  const signer = await createSigner(privateKeyPem);
  return signer.sign(packEncryptionPublicKey(publicKeyset));
}
