/** Reads `party.json`, which a party gives to the exchange's operator. The file contains no secrets. */
import { X509Certificate } from 'node:crypto';
import { fromBase64, type SignedMessage, toBase64 } from '@measurement-exchange/contract';
import { parseCertificate, verifySignature } from '@measurement-exchange/sdk';
import { readJsonObject } from './input.ts';
import { parsePartyName } from './names.ts';

export interface PartyFile {
  name: string;
  displayName: string;
  certificatePem: string;
  /** The root that issued the certificate. An imported identity may have no root. */
  rootPem?: string;
  /** A SignedMessage that contains an EncryptionPublicKey, in base64. */
  publicKey: { message: string; signature: string; signatureAlgorithm?: string };
}

export function publicKeyJson(key: SignedMessage): PartyFile['publicKey'] {
  return {
    message: toBase64(key.message),
    signature: toBase64(key.signature),
    ...(key.signatureAlgorithm && { signatureAlgorithm: key.signatureAlgorithm }),
  };
}

/** Reads a party file. Throws if its contents are inconsistent, before anything is sent to the exchange. */
export async function readPartyFile(path: string): Promise<PartyFile> {
  const json: unknown = await readJsonObject(path, 'the party.json that mex identity made');
  const file = json as PartyFile;
  const problem = await problemOf(file);
  if (problem !== undefined)
    throw new Error(`${path}: ${problem}. Ask the party for a new one (mex identity).`);
  const { signatureAlgorithm } = file.publicKey;
  const [message, signature] = [fromBase64(file.publicKey.message)!, fromBase64(file.publicKey.signature)!];
  // Reencode the base64, so that the key can be compared with the one that the exchange returns.
  const publicKey = publicKeyJson({ message, signature, signatureAlgorithm });
  return { ...file, displayName: file.displayName ?? '', publicKey };
}

async function problemOf(file: Partial<PartyFile>): Promise<string | undefined> {
  const { name, displayName = '', certificatePem, rootPem, publicKey } = file;
  const texts = { name, displayName, certificatePem, 'publicKey.message': publicKey?.message };
  for (const [field, value] of Object.entries({ ...texts, 'publicKey.signature': publicKey?.signature })) {
    if (typeof value !== 'string') return `${field} is missing`;
  }
  if (parsePartyName(name!) === undefined) return `name is ${name}, which is not the name of a party`;
  try {
    const certificate = new X509Certificate(certificatePem!);
    const root = rootPem === undefined ? undefined : new X509Certificate(rootPem);
    if (root && !(certificate.checkIssued(root) && certificate.verify(root.publicKey))) {
      return 'rootPem did not issue certificatePem';
    }
    const message = fromBase64(publicKey!.message);
    const signature = fromBase64(publicKey!.signature);
    if (message === undefined || signature === undefined) return 'publicKey is not in base64';
    const { signatureAlgorithm } = publicKey!;
    const signed = { message, signature, signatureAlgorithm };
    const isSigned = await verifySignature(signed, parseCertificate(certificate.raw)).then(
      () => true,
      () => false,
    );
    if (!isSigned) return 'the signature of publicKey is not one by the key of certificatePem';
  } catch {
    return 'certificatePem or rootPem is not a certificate in PEM';
  }
  return undefined;
}

/** Returns a certificate's SHA-256 fingerprint. People compare it over a separate channel, such as the phone. */
export function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint256;
}
