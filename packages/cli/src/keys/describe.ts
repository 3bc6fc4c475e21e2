/** Describes the keys and certificates in a file without revealing secrets. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import {
  ConsentError,
  type EncryptionKey,
  parseCertificate,
  publicKeysetOf,
  readPrivateKeyset,
  readPublicKeyset,
  type X509,
} from '@measurement-exchange/sdk';
import { type Block, blocksIn, isPrivateKey, keysetBytes, privateKeyOf } from '../files/keyFiles.ts';

export type CertificateFacts = ReturnType<typeof describeCertificate>;
type PrivateKeyFacts = ReturnType<typeof describePrivateKey>;

export interface KeysetFacts {
  kind: 'public Tink keyset' | 'private Tink keyset';
  /** SHA-256 of the public keyset. A private keyset has the same fingerprint as its public keyset. */
  fingerprint: string;
  keys: { keyId: number; primary: boolean; scheme: string; prefix: string }[];
}

export type KeyFacts = CertificateFacts | PrivateKeyFacts | KeysetFacts;

export async function describeKeys(bytes: Uint8Array): Promise<KeyFacts[]> {
  const blocks = blocksIn(bytes);
  if (blocks === undefined) return [await describeKeyset(keysetBytes(bytes))];
  return blocks.filter(({ label }) => label !== 'EC PARAMETERS').map(describeBlock);
}

function describeBlock(block: Block): CertificateFacts | PrivateKeyFacts {
  if (isPrivateKey(block)) return describePrivateKey(privateKeyOf(block));
  if (block.label !== 'CERTIFICATE') {
    throw new Error(`it holds a ${block.label}, which is neither a certificate nor a private key`);
  }
  if (block.der === undefined) throw new Error('its PEM is not in base64');
  return describeCertificate(parseCertificate(block.der));
}

function describePrivateKey(privateKey: KeyObject) {
  const key = createPublicKey(privateKey);
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  const spki = key.export({ type: 'spki', format: 'der' });
  const what = `${key.asymmetricKeyType?.toUpperCase()} ${CURVES[namedCurve ?? ''] ?? namedCurve ?? modulusLength ?? ''}`;
  const publicKeyFingerprint = fingerprint(spki);
  return { kind: 'private signing key', key: what.trimEnd(), publicKeyFingerprint } as const;
}

const CURVES: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

function describeCertificate(x509: X509) {
  const { subjectKeyIdentifier, authorityKeyIdentifier, keyUsages, publicKey } = x509;
  return {
    kind: 'certificate' as const,
    subject: x509.subject,
    issuer: x509.issuer,
    serialNumber: x509.serialNumber,
    ...(subjectKeyIdentifier && { subjectKeyIdentifier: hex(subjectKeyIdentifier) }),
    ...(authorityKeyIdentifier && { authorityKeyIdentifier: hex(authorityKeyIdentifier) }),
    notBefore: x509.notBefore.toISOString(),
    notAfter: x509.notAfter.toISOString(),
    isCa: x509.isCa,
    ...(keyUsages && { keyUsages }),
    key: [publicKey.keyType, publicKey.curve].filter(Boolean).join(' '),
    /** SHA-256 of the SubjectPublicKeyInfo. The value is the same for a certificate and its private key. */
    publicKeyFingerprint: fingerprint(publicKey.spki),
    fingerprint: fingerprint(x509.der),
  };
}

async function describeKeyset(bytes: Uint8Array): Promise<KeysetFacts> {
  const isPrivate = isPrivateKeyset(bytes);
  const { primary, keys } = isPrivate ? await readPrivateKeyset(bytes) : readPublicKeyset(bytes);
  return {
    kind: isPrivate ? 'private Tink keyset' : 'public Tink keyset',
    fingerprint: fingerprint(isPrivate ? publicKeysetOf(bytes) : bytes),
    keys: keys.map((key) => ({
      keyId: key.keyId,
      primary: key.keyId === primary.keyId,
      scheme: schemeOf(key),
      prefix: key.prefix,
    })),
  };
}

function isPrivateKeyset(bytes: Uint8Array): boolean {
  try {
    readPublicKeyset(bytes);
    return false;
  } catch (error) {
    if (error instanceof ConsentError && error.code === 'KEYSET_NOT_PUBLIC') return true;
    throw error;
  }
}

function schemeOf(key: EncryptionKey): string {
  if (key.scheme === 'HPKE') return `HPKE X25519, HKDF-SHA-256, ${key.aead.replaceAll('_', '-')}`;
  return `ECIES P-256, HKDF-${key.hash}, AES-${8 * key.aesKeyBytes}-GCM`;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .toUpperCase()
    .replace(/..(?=.)/g, '$&:');
}

function fingerprint(bytes: Uint8Array): string {
  return hex(createHash('sha256').update(bytes).digest());
}
