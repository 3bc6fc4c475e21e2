/** What is in a file of keys or certificates, without a word of what is secret. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { fromBase64 } from '@measurement-exchange/contract';
import {
  ConsentError,
  type EncryptionKey,
  parseCertificate,
  publicKeysetOf,
  readPrivateKeyset,
  readPublicKeyset,
  type X509,
} from '@measurement-exchange/sdk';

export interface CertificateFacts {
  kind: 'certificate';
  subject: string;
  issuer: string;
  serialNumber: string;
  subjectKeyIdentifier?: string;
  authorityKeyIdentifier?: string;
  notBefore: string;
  notAfter: string;
  isCa: boolean;
  keyUsages?: string[];
  key: string;
  /** SHA-256 of the SubjectPublicKeyInfo: the same for a certificate and the private key that goes with it. */
  publicKeyFingerprint: string;
  /** SHA-256 of the certificate. */
  fingerprint: string;
}

export interface PrivateKeyFacts {
  kind: 'private signing key';
  key: string;
  publicKeyFingerprint: string;
}

export interface KeysetFacts {
  kind: 'public Tink keyset' | 'private Tink keyset';
  /** SHA-256 of the public keyset: the same for a private one and the public one that goes with it. */
  fingerprint: string;
  keys: { keyId: number; primary: boolean; scheme: string; prefix: string }[];
}

export type KeyFacts = CertificateFacts | PrivateKeyFacts | KeysetFacts;

/** Everything in the file; throws an Error that says what may be given. */
export async function describeKeys(bytes: Uint8Array): Promise<KeyFacts[]> {
  const text = textOf(bytes);
  if (text?.includes('-----BEGIN ')) return describePem(text);
  if (bytes[0] === 0x30 && bytes.length > 200) return [describeCertificate(parseCertificate(bytes))];
  return [await describeKeyset(keysetBytes(bytes))];
}

/** As it is, or in base64, as mex identity writes it. */
export function keysetBytes(bytes: Uint8Array): Uint8Array {
  const text = textOf(bytes)?.trim();
  return (text && fromBase64(text)) || bytes;
}

/** Printable ASCII only: a keyset in binary is none. */
function textOf(bytes: Uint8Array): string | undefined {
  const printable = bytes.every(
    (byte) => (byte >= 0x20 && byte < 0x7f) || byte === 10 || byte === 13 || byte === 9,
  );
  return printable ? Buffer.from(bytes).toString('latin1') : undefined;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]*-----END \1-----/g;

function describePem(text: string): KeyFacts[] {
  const blocks = [...text.matchAll(BLOCK)];
  if (blocks.length === 0) throw new Error('it looks like PEM, and is cut short or garbled');
  return blocks.map(([pem, label]) => {
    if (label === 'CERTIFICATE') return describeCertificate(parseCertificate(pemBytes(pem)));
    if (label!.endsWith('PRIVATE KEY')) return describePrivateKey(pem);
    throw new Error(`it holds a ${label}: certificates and private keys are described here`);
  });
}

function pemBytes(pem: string): Uint8Array {
  const bytes = fromBase64(pem.replace(/-----[^-]+-----|\s/g, ''));
  if (bytes === undefined) throw new Error('its PEM is not in base64');
  return bytes;
}

function describePrivateKey(pem: string): PrivateKeyFacts {
  let key: KeyObject;
  try {
    key = createPublicKey(createPrivateKey(pem));
  } catch {
    throw new Error('its private key cannot be read: it may be encrypted, or damaged');
  }
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  const spki = key.export({ type: 'spki', format: 'der' });
  const what = `${key.asymmetricKeyType?.toUpperCase()} ${CURVES[namedCurve ?? ''] ?? namedCurve ?? modulusLength ?? ''}`;
  return { kind: 'private signing key', key: what.trimEnd(), publicKeyFingerprint: fingerprint(spki) };
}

const CURVES: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

function describeCertificate(x509: X509): CertificateFacts {
  const { subjectKeyIdentifier, authorityKeyIdentifier, keyUsages, publicKey } = x509;
  return {
    kind: 'certificate',
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
