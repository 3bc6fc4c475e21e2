import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { expect, test } from 'vitest';
import { POINT_BYTES } from './affine.ts';
import { Curve } from './curve.ts';
import { PRIME } from './limbs.ts';
import { mapToCurve } from './mapToCurve.ts';

const curve = new Curve(16);

test('texts are mapped to the known points', () => {
  const points = Buffer.from(mapToCurve(curve, ['unit_ec_point', '1'])).toString('hex');
  expect(points).toBe(
    '0295eff36ee6834b476823392ce1f31aeda2c10edf2fdb5a4b2a708a600f18876f' +
      '02cdbe79a27ed481eabdfbecd25eed5776de902fc584a95282c1cdf3d9995502f8',
  );
});

test('more texts than fit in a batch are mapped to the same points as by an independent implementation', () => {
  const texts = Array.from({ length: 40 }, (_, i) => String(i));
  const points = mapToCurve(curve, texts);
  texts.forEach((text, i) => {
    expect(points.slice(i * POINT_BYTES, (i + 1) * POINT_BYTES)).toEqual(independent(text));
  });
});

function independent(text: string): Uint8Array {
  let message = Buffer.from(text);
  for (;;) {
    const half = (prefix: number) =>
      createHash('sha256').update(Buffer.of(prefix)).update(message).digest('hex');
    const x = BigInt(`0x${half(1)}${half(2)}`) % PRIME;
    const hex = x.toString(16);
    try {
      const point = Uint8Array.from(Buffer.from(`02${hex.padStart(64, '0')}`, 'hex'));
      p256.Point.fromBytes(point).assertValidity();
      return point;
    } catch {
      message = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
    }
  }
}
