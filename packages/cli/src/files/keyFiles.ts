/** Reads files with certificates, private keys, and Tink keysets. The format is detected from the contents. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { fromBase64 } from '@measurement-exchange/contract';
import { readBytes } from './input.ts';

/** One certificate or key in a file. `label` is the PEM label. For a DER file, it is `CERTIFICATE` or `PRIVATE KEY`. */
export interface Block {
  label: string;
  /** Undefined if the content of a PEM block is not base64, as in an encrypted key with headers. */
  der: Uint8Array | undefined;
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;
/** The first byte of a DER file, which is the tag of a SEQUENCE. A Tink keyset never starts with this byte. */
const SEQUENCE = 0x30;

/**
 * Returns the blocks in a PEM or DER file, or undefined if the file has another format. Throws if a PEM file contains
 * no complete block, or if a DER file is neither a certificate nor an unencrypted private key.
 */
export function blocksIn(bytes: Uint8Array): Block[] | undefined {
  const text = Buffer.from(bytes).toString('latin1');
  if (text.includes('-----BEGIN ')) {
    const blocks = [...text.matchAll(PEM_BLOCK)];
    if (blocks.length === 0) throw new Error('it looks like PEM, but is truncated or damaged');
    return blocks.map(([, label, body]) => ({ label: label!, der: fromBase64(body!.replace(/\s/g, '')) }));
  }
  return bytes[0] === SEQUENCE ? [{ label: labelOfDer(bytes), der: bytes }] : undefined;
}

function labelOfDer(der: Uint8Array): string {
  if (isCertificate(der)) return 'CERTIFICATE';
  if (privateKeyFromDer(der) !== undefined) return 'PRIVATE KEY';
  throw new Error('it looks like DER, but is neither a certificate nor an unencrypted private key');
}

function isCertificate(der: Uint8Array): boolean {
  try {
    return new X509Certificate(der).raw.length > 0;
  } catch {
    return false;
  }
}

function privateKeyFromDer(der: Uint8Array): KeyObject | undefined {
  for (const type of ['pkcs8', 'sec1', 'pkcs1'] as const) {
    try {
      return createPrivateKey({ key: Buffer.from(der), format: 'der', type });
    } catch {}
  }
  return undefined;
}

export const isPrivateKey = ({ label }: Block) => label.endsWith('PRIVATE KEY');

export function privateKeyOf({ der }: Block): KeyObject {
  const key = der && privateKeyFromDer(der);
  if (key !== undefined) return key;
  throw new Error('its private key cannot be read: it may be encrypted, or damaged');
}

/** Returns the certificates in a file, as PEM. Keys in the same file are ignored. */
export async function readCertificates(path: string): Promise<string[]> {
  const expected = 'a certificate in PEM or DER';
  const bytes = await readBytes(path, expected);
  try {
    const blocks = blocksIn(bytes) ?? [];
    const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE');
    if (certificates.length === 0) {
      const found = blocks.map(({ label }) => `a ${label}`).join(', ');
      throw new Error(found === '' ? 'it is not a certificate' : `it holds ${found}, but no certificate`);
    }
    return certificates.map(certificatePem);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}. Give ${expected}.`);
  }
}

export async function readCertificate(path: string): Promise<string> {
  const [certificate, ...more] = await readCertificates(path);
  if (more.length === 0) return certificate!;
  throw new Error(`${path} holds ${more.length + 1} certificates: give a file with one, in PEM or DER.`);
}

function certificatePem({ der }: Block): string {
  const certificate = der && isCertificate(der) ? new X509Certificate(der) : undefined;
  // Compare the parsed certificate with the whole input, because OpenSSL ignores trailing bytes.
  if (certificate?.raw.equals(der!)) return certificate.toString();
  throw new Error('its certificate is damaged');
}

/** Converts a Tink keyset from base64, which `mex identity` writes, to binary. Returns a binary keyset unchanged. */
export function keysetBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1').trim();
  return (/^[\x20-\x7e\s]+$/.test(text) && fromBase64(text)) || bytes;
}
