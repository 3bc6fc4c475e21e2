/**
 * Maps strings to P-256 points, in the same way as the public reference system (docs/grpc.md). Each string is hashed to
 * an x coordinate. As long as the curve has no point with that x, the x is hashed to get the next x. The result is the
 * point with the even y.
 */
import { hash } from 'node:crypto';
import { POINT_BYTES } from './affine.ts';
import { NUMBER_BYTES, toBytes } from './bigEndian.ts';
import type { Curve } from './curve.ts';
import { PRIME } from './limbs.ts';

/** Returns the compressed points, concatenated. A string that occurs several times is mapped only once. */
export function mapToCurve(curve: Curve, texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const placeOf = new Map<string, number>();
  for (const text of texts) if (!placeOf.has(text)) placeOf.set(text, placeOf.size);
  const distinct = mapDistinct(curve, [...placeOf.keys()]);
  if (placeOf.size === texts.length) return distinct;
  const points = new Uint8Array(texts.length * POINT_BYTES);
  for (let i = 0; i < texts.length; i++) {
    const from = placeOf.get(texts[i]!)! * POINT_BYTES;
    points.set(distinct.subarray(from, from + POINT_BYTES), i * POINT_BYTES);
  }
  return points;
}

function mapDistinct(curve: Curve, texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const points = new Uint8Array(texts.length * POINT_BYTES);
  const [batch] = curve.spare;
  for (let from = 0; from < texts.length; from += curve.capacity) {
    let places = texts.slice(from, from + curve.capacity).map((_, i) => from + i);
    let xs = places.map((place) => hashToField(Buffer.from(texts[place]!)));
    while (places.length > 0) {
      const rejected = new Set(curve.loadX(batch, Buffer.concat(xs), places.length, NUMBER_BYTES, 0));
      places.forEach((place, i) => {
        if (rejected.has(i)) return;
        points[place * POINT_BYTES] = 2;
        points.set(xs[i]!, place * POINT_BYTES + 1);
      });
      xs = xs.filter((_, i) => rejected.has(i)).map((x) => hashToField(withoutLeadingZeros(x)));
      places = places.filter((_, i) => rejected.has(i));
    }
  }
  return points;
}

/** Reduces 512 bits (two hashes) modulo the prime, so that every x is practically equally likely. */
function hashToField(message: Uint8Array): Uint8Array {
  const prefixed = new Uint8Array(message.length + 1);
  prefixed.set(message, 1);
  prefixed[0] = 1;
  const high = hash('sha256', prefixed, 'hex');
  prefixed[0] = 2;
  return toBytes(BigInt(`0x${high}${hash('sha256', prefixed, 'hex')}`) % PRIME);
}

function withoutLeadingZeros(x: Uint8Array): Uint8Array {
  let first = 0;
  while (x[first] === 0) first++;
  return x.subarray(first);
}
