/** P-256, the curve that ECIES uses. Points are public, so arithmetic on points does not have to be constant-time. */
import { toBase64 } from '@measurement-exchange/contract';
import { asBytes, type Bytes, bigEndian, concat } from '../base/bytes.ts';

const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const UNCOMPRESSED = 4;
export const COORDINATE_BYTES = 32;
export const POINT_BYTES = 1 + 2 * COORDINATE_BYTES;

/**
 * Returns whether the bytes are an uncompressed point on the curve: the byte 04, then x and y. Not every crypto engine
 * checks this.
 */
export function isPoint(bytes: Uint8Array): boolean {
  if (bytes.length !== POINT_BYTES || bytes[0] !== UNCOMPRESSED) return false;
  const [x, y] = coordinates(bytes).map(bigEndian) as [bigint, bigint];
  return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

/** Returns whether the 32 bytes are a valid private key: above 0 and below the group order. */
export function isScalar(bytes: Uint8Array): boolean {
  const scalar = bigEndian(bytes);
  return scalar > 0n && scalar < N;
}

export function pointOf(x: Uint8Array, y: Uint8Array): Bytes {
  return concat(Uint8Array.of(UNCOMPRESSED), x, y);
}

/**
 * Returns a private key as a JWK. Every crypto engine can import a JWK, but some cannot import a PKCS #8 key that lacks
 * the public point.
 */
export function privateJwk(scalar: Uint8Array, point: Uint8Array): JsonWebKey {
  const [x, y] = coordinates(point).map(base64url);
  return { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: base64url(scalar) };
}

/**
 * Returns whether the scalar is the point's private key. Checks by signing and verifying, because comparing shared
 * secrets would also accept the point's negative.
 */
export async function isP256Pair(scalar: Uint8Array, point: Uint8Array): Promise<boolean> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const { subtle } = crypto;
  try {
    const privateKey = await subtle.importKey('jwk', privateJwk(scalar, point), algorithm, false, ['sign']);
    const publicKey = await subtle.importKey('raw', asBytes(point), algorithm, false, ['verify']);
    const message = new Uint8Array();
    const signature = await subtle.sign(algorithm, privateKey, message);
    return await subtle.verify(algorithm, publicKey, signature, message);
  } catch {
    // Importing the JWK fails in Node and Chromium if the point is not the public key of the scalar.
    return false;
  }
}

function coordinates(point: Uint8Array): Uint8Array[] {
  return [point.subarray(1, 1 + COORDINATE_BYTES), point.subarray(1 + COORDINATE_BYTES)];
}

function base64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
