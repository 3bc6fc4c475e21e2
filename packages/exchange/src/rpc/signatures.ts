/**
 * Adds missing algorithm names to signatures. REST clients derive the algorithm from the signer's certificate, but gRPC
 * clients need the name.
 */
import { X509Certificate } from 'node:crypto';
import {
  defaultSignatureAlgorithm,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
  type specs,
} from '@measurement-exchange/contract';
import type { Call } from './api.ts';
import { certificateIdsIn } from './names.ts';

/** A signed message, and the certificate of its signer. */
export type Signature = [signed: specs.SignedMessage | undefined, certificate: string];

/** Sets the algorithm of each signature that has none. Reads each certificate once. */
export async function nameAlgorithms(call: Call, signatures: Signature[]): Promise<void> {
  const oids = new Map<string, string>();
  for (const [signed, certificate] of signatures) {
    if (signed === undefined || signed.signatureAlgorithmOid !== '') continue;
    if (!oids.has(certificate)) {
      const { x509Der } = await call.run('getCertificate', certificateIdsIn(certificate));
      oids.set(certificate, algorithmOf(x509Der));
    }
    signed.signatureAlgorithmOid = oids.get(certificate)!;
  }
}

const CURVES: Record<string, SignatureAlgorithm['curve']> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

/**
 * Returns the OID of the signature algorithm that is the default for the certificate's key. Returns an empty string if
 * the key cannot sign, or if the certificate cannot be read.
 */
export function algorithmOf(x509Der: Uint8Array): string {
  const { asymmetricKeyType: type = '', asymmetricKeyDetails } = keyOf(x509Der) ?? {};
  const name = defaultSignatureAlgorithm({
    keyType: type.toUpperCase(),
    curve: CURVES[asymmetricKeyDetails?.namedCurve ?? ''],
  });
  return name === undefined ? '' : SIGNATURE_ALGORITHMS[name].oid;
}

/**
 * Returns the certificate's public key. If OpenSSL rejects the certificate, returns undefined instead of throwing. The
 * exchange may have accepted the certificate long ago, and callers must still be able to read the signed message.
 */
function keyOf(x509Der: Uint8Array) {
  try {
    return new X509Certificate(x509Der).publicKey;
  } catch {
    return undefined;
  }
}
