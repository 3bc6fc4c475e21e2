/**
 * Texts to points of P-256, as the public reference system does it: the text is hashed to an x; where no point has it, the x
 * is hashed again. Of the two points, the one with an even y.
 */
import { hash } from 'node:crypto';
import { POINT_BYTES } from './affine.ts';
import { NUMBER_BYTES, toBytes, toNumber } from './bigEndian.ts';
import type { Curve } from './curve.ts';
import { PRIME } from './limbs.ts';

/** The points, compressed, one after the other. */
export function mapToCurve(curve: Curve, texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const points = new Uint8Array(texts.length * POINT_BYTES);
  const [batch] = curve.spare;
  for (let from = 0; from < texts.length; from += curve.capacity) {
    let places = texts.slice(from, from + curve.capacity).map((_, i) => from + i);
    let xs = places.map((place) => hashToField(new TextEncoder().encode(texts[place])));
    while (places.length > 0) {
      const given = Buffer.concat(xs);
      const rejected = new Set(curve.loadX(batch, given, places.length, NUMBER_BYTES, 0));
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

/** Two hashes, so that no x is likelier than another. */
function hashToField(message: Uint8Array): Uint8Array {
  const [high, low] = [1, 2].map((prefix) =>
    hash('sha256', Buffer.concat([Buffer.of(prefix), message]), 'buffer'),
  );
  return toBytes(toNumber(Buffer.concat([high!, low!])) % PRIME);
}

function withoutLeadingZeros(x: Uint8Array): Uint8Array {
  const first = x.findIndex((byte) => byte !== 0);
  return x.subarray(first < 0 ? x.length : first);
}
