/** Signs messages and verifies their signatures. */
import {
  defaultSignatureAlgorithm,
  findSignatureAlgorithm,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
  type SignatureAlgorithmName,
  type SignedMessage,
  signatureHash,
} from '@measurement-exchange/contract';
import { asBytes } from '../base/bytes.ts';
import { ConsentError } from '../base/errors.ts';
import type { CertificateKey, X509 } from '../certificates/certificates.ts';
import { DerFault, derSequence, ecdsaFromDer, ecdsaToDer } from '../certificates/der.ts';
import { type KeyKind, keyKind } from '../certificates/keyKind.ts';
import { pemBlocks } from '../certificates/pem.ts';
import { coordinateBytes, importAlgorithm, verify } from './engine.ts';

export interface Signer {
  /** Returns the message with its signature (in DER for ECDSA) and the algorithm's name. */
  sign(message: Uint8Array): Promise<SignedMessage>;
}

/** Creates a signer from a PKCS #8 private key in PEM. The key must be P-256, P-384, P-521, or RSA. */
export async function createSigner(privateKeyPem: string): Promise<Signer> {
  const { key, kind, signatureAlgorithm, algorithm, hash } = await importPrivateKey(privateKeyPem, false);
  return {
    async sign(message) {
      const made = new Uint8Array(await crypto.subtle.sign({ ...algorithm, hash }, key, asBytes(message)));
      const signature = kind.keyType === 'EC' ? ecdsaToDer(made) : made;
      return { message, signature, signatureAlgorithm };
    },
  };
}

export async function publicKeyOf(privateKeyPem: string): Promise<CertificateKey> {
  const { key, kind, algorithm } = await importPrivateKey(privateKeyPem, true);
  const { subtle } = crypto;
  const { kty, crv, x, y, n, e } = await subtle.exportKey('jwk', key);
  const jwk = kind.keyType === 'EC' ? { kty, crv, x, y } : { kty, n, e };
  const publicKey = await subtle.importKey('jwk', jwk as JsonWebKey, algorithm, true, ['verify']);
  return { ...kind, spki: new Uint8Array(await subtle.exportKey('spki', publicKey)) };
}

/** Throws unless the certificate's key signed exactly `signed.message`. */
export async function verifySignature(
  signed: SignedMessage,
  certificate: Pick<X509, 'publicKey'>,
): Promise<void> {
  const hash = hashOf(signed, certificate.publicKey);
  const verdict = await checkSignature(signed.message, signed.signature, certificate.publicKey, hash);
  if (verdict === 'MALFORMED') {
    throw new ConsentError(
      'SIGNATURE_MALFORMED',
      'The signature is not in DER, as ECDSA signatures are here: convert it from r || s (IEEE P1363).',
    );
  }
  if (verdict === 'INVALID') {
    throw new ConsentError(
      'SIGNATURE_INVALID',
      'The key of the certificate did not make this signature of the message: refuse the message.',
    );
  }
}

/** Like `verifySignature`, but returns false instead of throwing ConsentError. */
export async function isSignedBy(
  signed: SignedMessage,
  certificate: Pick<X509, 'publicKey'>,
): Promise<boolean> {
  try {
    await verifySignature(signed, certificate);
    return true;
  } catch (error) {
    if (error instanceof ConsentError) return false;
    throw error;
  }
}

function hashOf({ signatureAlgorithm: named }: SignedMessage, key: KeyKind): SignatureAlgorithm['hash'] {
  if (named !== undefined && findSignatureAlgorithm(named) === undefined) {
    throw new ConsentError(
      'SIGNATURE_ALGORITHM_UNKNOWN',
      `The signature algorithm is not one of ${Object.keys(SIGNATURE_ALGORITHMS).join(', ')} and their OIDs.`,
    );
  }
  requireSigningKey(key, 'The key of the certificate');
  const hash = signatureHash(named, key);
  if (hash === undefined) {
    throw new ConsentError(
      'SIGNATURE_ALGORITHM_MISMATCH',
      `The signature algorithm ${named} does not fit the key of the certificate: state the one that was used.`,
    );
  }
  return hash;
}

/** Returns the name of the algorithm that the key signs with. Throws if this type of key is not supported. */
export function requireSigningKey(key: KeyKind, what: string): SignatureAlgorithmName {
  const algorithm = defaultSignatureAlgorithm(key);
  if (algorithm !== undefined) return algorithm;
  const kind = key.curve ?? key.keyType;
  throw new ConsentError('KEY_NOT_SUPPORTED', `${what} is of the kind ${kind}: use a key on P-256, or RSA.`);
}

/**
 * Returns VALID if the key made the signature, MALFORMED if an ECDSA signature is not DER, and INVALID otherwise. The
 * caller must pass a `hash` that is supported for this type of key.
 */
export async function checkSignature(
  message: Uint8Array,
  signature: Uint8Array,
  key: CertificateKey,
  hash: SignatureAlgorithm['hash'],
): Promise<'VALID' | 'INVALID' | 'MALFORMED'> {
  const isMalformed = key.keyType === 'EC' && ecdsaFromDer(signature, coordinateBytes(key)) === undefined;
  if (isMalformed) return 'MALFORMED';
  return (await verify(key, hash, signature, message)) ? 'VALID' : 'INVALID';
}

async function importPrivateKey(pem: string, extractable: boolean) {
  const { bytes, kind } = readPrivateKey(pem);
  const signatureAlgorithm = requireSigningKey(kind, 'The private key');
  const { hash } = SIGNATURE_ALGORITHMS[signatureAlgorithm];
  const algorithm = importAlgorithm(kind, hash);
  const key = await crypto.subtle
    .importKey('pkcs8', asBytes(bytes), algorithm, extractable, ['sign'])
    .catch((cause) => {
      throw malformedKey('is damaged', cause);
    });
  return { key, kind, signatureAlgorithm, algorithm, hash };
}

function readPrivateKey(pem: string): { bytes: Uint8Array; kind: KeyKind } {
  const block = pemBlocks(pem)?.find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (block === undefined) throw malformedKey('is not in PEM');
  if (block.label !== 'PRIVATE KEY') throw malformedKey(`is in another form (${block.label})`);
  try {
    const [, algorithm] = derSequence(block.bytes);
    if (algorithm === undefined) throw new DerFault('is too short');
    return { bytes: block.bytes, kind: keyKind(algorithm) };
  } catch (error) {
    if (error instanceof DerFault) throw malformedKey('is damaged');
    throw error;
  }
}

function malformedKey(what: string, cause?: unknown): ConsentError {
  return new ConsentError(
    'PRIVATE_KEY_MALFORMED',
    `The private key ${what}: give it as PKCS #8 in PEM, unencrypted (openssl pkcs8 -topk8 -nocrypt).`,
    { cause },
  );
}
