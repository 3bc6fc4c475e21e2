/** Checks public keys and key pairs of X25519, the key agreement function of the supported HPKE keys. */
import { equalBytes } from '@measurement-exchange/contract';
import { asBytes, bigEndian, concat } from '../base/bytes.ts';

export const X25519_BYTES = 32;
const P = 2n ** 255n - 19n;
/**
 * The x-coordinates of the points of small order (at most 8) on the curve and its twist. A shared secret with any of
 * these points is always zero.
 */
const SMALL_ORDER = [
  0n,
  1n,
  P - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
];
/** The base point. A private key times the base point is the public key. */
const BASE = Uint8Array.of(9, ...new Uint8Array(X25519_BYTES - 1));
/** The bytes that come before the private key in PKCS #8 (RFC 8410). */
const PKCS8 = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20);

/** Returns whether every shared secret with this public key is zero. Ignores the key's highest bit, as X25519 does. */
export function isOfSmallOrder(publicKey: Uint8Array): boolean {
  return SMALL_ORDER.includes(BigInt.asUintN(255, bigEndian(publicKey.toReversed())) % P);
}

export async function isX25519Pair(privateKey: Uint8Array, publicKey: Uint8Array): Promise<boolean> {
  const { subtle } = crypto;
  const base = await subtle.importKey('raw', BASE, 'X25519', false, []);
  const pkcs8 = concat(PKCS8, privateKey);
  const key = await subtle.importKey('pkcs8', pkcs8, 'X25519', false, ['deriveBits']);
  const own = await subtle.deriveBits({ name: 'X25519', public: base }, key, 8 * X25519_BYTES);
  return equalBytes(new Uint8Array(own), asBytes(publicKey));
}
