/**
 * Batches of ElGamal ciphertexts over P-256. A ciphertext is two compressed points, (u, e) = (r · G, M + r · Y). M is
 * the encrypted point, Y the public key, G the generator, and r a random scalar. The sum of two ciphertexts encrypts
 * the sum of their points.
 */
import { POINT_BYTES, type Points } from '../curve/affine.ts';
import type { Curve } from '../curve/curve.ts';
import { negativeProducts, SCALAR_BYTES } from '../curve/scalars.ts';
import type { ElGamalPublicKey } from './keys.ts';

export const CIPHERTEXT_BYTES = 2 * POINT_BYTES;

/**
 * Thrown if a ciphertext would contain the point at infinity, which has no encoding. Honest parties never cause this.
 */
export class ElGamalError extends Error {
  override name = 'ElGamalError';
}

/**
 * The positions of ciphertexts or points in a byte array. The first item is at index `at`, and the items are `stride`
 * bytes apart.
 */
export interface Layout {
  stride?: number;
  at?: number;
}

/** A batch of at most `curve.capacity` ciphertexts. A curve has memory for three of these batches. */
export class Ciphertexts {
  private readonly curve: Curve;
  private readonly u: Points;
  private readonly e: Points;
  private count = 0;

  constructor(curve: Curve) {
    this.curve = curve;
    this.u = curve.points();
    this.e = curve.points();
  }

  load(bytes: Uint8Array, count: number, { stride = CIPHERTEXT_BYTES, at = 0 }: Layout = {}): void {
    this.count = count;
    this.curve.load(this.u, bytes, count, stride, at);
    this.curve.load(this.e, bytes, count, stride, at + POINT_BYTES);
  }

  store(into: Uint8Array, { stride = CIPHERTEXT_BYTES, at = 0 }: Layout = {}): void {
    this.curve.use(this.count);
    this.curve.store(this.u, into, this.count, stride, at);
    this.curve.store(this.e, into, this.count, stride, at + POINT_BYTES);
  }

  encrypt(key: ElGamalPublicKey, points: Uint8Array, scalars: Uint8Array, layout: Layout = {}): void {
    this.count = scalars.length / SCALAR_BYTES;
    const [message] = this.curve.spare;
    this.curve.load(message, points, this.count, layout.stride, layout.at);
    this.encryptZeros(key, scalars);
    this.addTo(this.e, message, 1);
  }

  /** Encrypts the point at infinity. Adding the result to another ciphertext hides where that ciphertext came from. */
  encryptZeros(key: ElGamalPublicKey, scalars: Uint8Array): void {
    this.count = scalars.length / SCALAR_BYTES;
    this.curve.multiplyFixed(this.u, this.curve.generator, scalars);
    this.curve.multiplyFixed(this.e, key.table, scalars);
  }

  /** Creates ciphertexts of points that nobody knows, by choosing u and e at random. */
  encryptRandom(scalars: Uint8Array, others: Uint8Array): void {
    this.count = scalars.length / SCALAR_BYTES;
    this.curve.multiplyFixed(this.u, this.curve.generator, scalars);
    this.curve.multiplyFixed(this.e, this.curve.generator, others);
  }

  /**
   * Re-encrypts the same points with new randomness. Without the secret keys, nobody can link old and new ciphertexts.
   */
  reRandomize(key: ElGamalPublicKey, scalars: Uint8Array): void {
    const [added] = this.curve.spare;
    this.curve.multiplyFixed(added, this.curve.generator, scalars);
    this.addTo(this.u, added, 1);
    this.curve.multiplyFixed(added, key.table, scalars);
    this.addTo(this.e, added, 1);
  }

  /** Removes one of the keys that the points are encrypted under. The point e becomes e − secretKey · u. */
  decrypt(secretKey: Uint8Array): void {
    const [mask] = this.curve.spare;
    this.curve.use(this.count);
    this.curve.multiply(mask, this.u, secretKey);
    this.addTo(this.e, mask, -1);
  }

  /**
   * Decrypts ciphertexts that are encrypted under this key alone, and writes the points. Writes zeros for the point at
   * infinity.
   */
  open(secretKey: Uint8Array, into: Uint8Array, { stride = POINT_BYTES, at = 0 }: Layout = {}): void {
    const [mask] = this.curve.spare;
    this.curve.use(this.count);
    this.curve.multiply(mask, this.u, secretKey);
    const infinite = this.curve.add(mask, this.e, mask, -1);
    this.curve.store(mask, into, this.count, stride, at);
    for (const i of infinite) {
      if (i < this.count) into.fill(0, at + i * stride, at + i * stride + POINT_BYTES);
    }
  }

  /**
   * Removes one key and multiplies the encrypted points by a scalar s: (u, e) becomes (s · u, s · (e − secretKey · u)).
   */
  blind(secretKey: Uint8Array, scalar: Uint8Array): void {
    this.curve.use(this.count);
    this.curve.multiplyPair(this.u, this.e, scalar, negativeProducts(scalar, secretKey));
  }

  blindEach(secretKey: Uint8Array, scalars: Uint8Array): void {
    this.curve.use(this.count);
    this.curve.multiplyPairEach(this.u, this.e, scalars, negativeProducts(scalars, secretKey));
  }

  multiplyEach(scalars: Uint8Array): void {
    this.curve.use(this.count);
    this.curve.multiplyEach(this.u, this.u, scalars);
    this.curve.multiplyEach(this.e, this.e, scalars);
  }

  add(other: Ciphertexts, sign: 1 | -1 = 1): void {
    if (other.count !== this.count) throw new RangeError('both batches must have as many ciphertexts');
    this.curve.use(this.count);
    this.addTo(this.u, other.u, sign);
    this.addTo(this.e, other.e, sign);
  }

  addPoints(points: Uint8Array, sign: 1 | -1 = 1, layout: Layout = {}): void {
    const [added] = this.curve.spare;
    this.curve.load(added, points, this.count, layout.stride, layout.at);
    this.addTo(this.e, added, sign);
  }

  private addTo(points: Points, added: Points, sign: 1 | -1): void {
    const [infinite] = this.curve.add(points, points, added, sign);
    if (infinite !== undefined)
      throw new ElGamalError(`ciphertext ${infinite}: a point of it is at infinity`);
  }
}

/**
 * Returns 1 for each ciphertext that encrypts the point at infinity, else 0. The ciphertexts must be encrypted under
 * this key alone.
 */
export function areZero(
  curve: Curve,
  secretKey: Uint8Array,
  bytes: Uint8Array,
  count: number,
  { stride = CIPHERTEXT_BYTES, at = 0 }: Layout = {},
): Uint8Array<ArrayBuffer> {
  const [u] = curve.spare;
  const masks = new Uint8Array(count * POINT_BYTES);
  curve.load(u, bytes, count, stride, at);
  curve.multiply(u, u, secretKey);
  curve.store(u, masks, count);
  return Uint8Array.from({ length: count }, (_, i) => {
    const from = at + i * stride + POINT_BYTES;
    const mask = masks.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES);
    return Buffer.compare(mask, bytes.subarray(from, from + POINT_BYTES)) === 0 ? 1 : 0;
  });
}
