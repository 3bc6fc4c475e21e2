/** Checks the file `party.json`, which a party gives to the exchange's operator. The file contains no secrets. */
import { ConsentError, isIssuedBy, isSignedBy, parseCertificatePem } from '@measurement-exchange/consent';
import { fromBase64, parsePartyName, type SignedMessage, toBase64 } from '@measurement-exchange/contract';

export interface PartyFile {
  name: string;
  displayName: string;
  certificatePem: string;
  /** The root that issued the certificate. Absent if the party imported an existing certificate without its root. */
  rootPem?: string;
  /** A SignedMessage that contains an EncryptionPublicKey. `message` and `signature` are in base64. */
  publicKey: { message: string; signature: string; signatureAlgorithm?: string };
}

/** Thrown if a party file is incomplete or contradicts itself. */
export class PartyFileError extends Error {
  override readonly name = 'PartyFileError';
}

/** Reads a party file from a parsed JSON object. Throws PartyFileError if the file is incomplete or inconsistent. */
export async function parsePartyFile(json: object): Promise<PartyFile> {
  const file = json as PartyFile;
  const problem = await problemOf(file);
  if (problem !== undefined) throw new PartyFileError(problem);
  // Reencode the base64, so that the key can be compared with the one that the exchange returns.
  return { ...file, displayName: file.displayName ?? '', publicKey: publicKeyJson(signedKey(file)) };
}

async function problemOf(file: Partial<PartyFile>): Promise<string | undefined> {
  const { name, displayName = '', certificatePem, rootPem, publicKey } = file;
  const texts = { name, displayName, certificatePem, 'publicKey.message': publicKey?.message };
  for (const [field, value] of Object.entries({ ...texts, 'publicKey.signature': publicKey?.signature })) {
    if (typeof value !== 'string') return `${field} is missing`;
  }
  if (parsePartyName(name!) === undefined) return `name is ${name}, which is not the name of a party`;
  if (fromBase64(publicKey!.message) === undefined || fromBase64(publicKey!.signature) === undefined) {
    return 'publicKey is not in base64';
  }
  try {
    const certificate = parseCertificatePem(certificatePem!);
    if (rootPem !== undefined && !(await isIssuedBy(certificate, parseCertificatePem(rootPem)))) {
      return 'rootPem did not issue certificatePem';
    }
    if (!(await isSignedBy(signedKey(file as PartyFile), certificate))) {
      return 'the signature of publicKey is not one by the key of certificatePem';
    }
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    return 'certificatePem or rootPem is not a certificate in PEM';
  }
  return undefined;
}

export function publicKeyJson(key: SignedMessage): PartyFile['publicKey'] {
  return {
    message: toBase64(key.message),
    signature: toBase64(key.signature),
    ...(key.signatureAlgorithm && { signatureAlgorithm: key.signatureAlgorithm }),
  };
}

/** Decodes the public key in a party file from base64. */
export function signedKey({ publicKey }: PartyFile): SignedMessage {
  const { message, signature, signatureAlgorithm } = publicKey;
  return { message: fromBase64(message)!, signature: fromBase64(signature)!, signatureAlgorithm };
}
