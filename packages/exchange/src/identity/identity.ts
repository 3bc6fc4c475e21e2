/** What a party needs to take part: a root, a signing key with its certificate, and a signed encryption key. */
import { X509Certificate } from 'node:crypto';
import type { SignedMessage } from '@measurement-exchange/contract';
import { createRoot, issueLeaf, type Root } from './certificates.ts';
import { createEncryptionKeysets, type EncryptionKeysets } from './keysets.ts';
import { signEncryptionKey } from './publicKey.ts';

export interface Identity {
  root: Root;
  certificatePem: string;
  privateKeyPem: string;
  keysets: EncryptionKeysets;
  publicKey: SignedMessage;
}

/** The root and the keysets are taken over from an earlier identity where they are given. */
export async function createIdentity(options: {
  commonName: string;
  /** Epoch milliseconds. */
  now: number;
  /** How long the certificate is valid. */
  days: number;
  root?: Root;
  keysets?: EncryptionKeysets;
}): Promise<Identity> {
  const { now, days } = options;
  // 64 characters at most, those of the root included (X.520, ub-common-name).
  const commonName = [...options.commonName].slice(0, 59).join('');
  const root = options.root ?? (await createRoot(`${commonName} root`, now));
  const keysets = options.keysets ?? createEncryptionKeysets();
  const { der, privateKeyPem } = await issueLeaf(root, commonName, now, days);
  return {
    root,
    certificatePem: new X509Certificate(der).toString(),
    privateKeyPem,
    keysets,
    publicKey: signEncryptionKey(keysets.publicKeyset, privateKeyPem),
  };
}
