import { describe, expect, test } from 'vitest';
import {
  Ciphertexts,
  Curve,
  combineKeys,
  ElGamalPublicKey,
  mapToCurve,
  newKeyPair,
  POINT_BYTES,
} from '../elGamal.ts';
import { FrequencySketch } from '../protocols/liquidLegionsV2/provider.ts';
import { ReachSketch } from '../protocols/reachOnlyLiquidLegionsV2/provider.ts';
import { Keystream } from '../shares.ts';
import { FREQUENCY_REGISTER_BYTES, REACH_REGISTER_BYTES, SketchEncrypter } from './encryptSketch.ts';
import { countPoints, DESTROYED_KEY, NOBODY_INDEX } from './points.ts';
import { DESTROYED } from './sketch.ts';

const random = new Keystream(new Uint8Array(48).fill(3));
const curve = new Curve(16);
const duchies = Array.from({ length: 3 }, () => newKeyPair(random));
const key = new ElGamalPublicKey(
  curve,
  combineKeys(
    curve,
    duchies.map(({ publicKey }) => publicKey),
  ),
);
const encrypter = new SketchEncrypter(curve, key, random);
const batch = new Ciphertexts(curve);

/** Decrypts the ciphertext at byte `at` of each register. Returns the decrypted points in hexadecimal. */
function decrypted(registers: Uint8Array, stride: number, at: number): string[] {
  const points: string[] = [];
  const bytes = new Uint8Array(curve.capacity * POINT_BYTES);
  for (let from = 0; from < registers.length; from += curve.capacity * stride) {
    const count = Math.min(curve.capacity, (registers.length - from) / stride);
    batch.load(registers.subarray(from), count, { stride, at });
    for (const { secretKey } of duchies.slice(1)) batch.decrypt(secretKey);
    batch.open(duchies[0]!.secretKey, bytes);
    for (let i = 0; i < count; i++) points.push(hexAt(bytes, i));
  }
  return points;
}

function hexAt(points: Uint8Array, i: number): string {
  return Buffer.from(points.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES)).toString('hex');
}

function hexOf(text: string): string {
  return hexAt(mapToCurve(curve, [text]), 0);
}

describe('an encrypted reach sketch', () => {
  test('contains all registers in shuffled order, with padding for empty registers', () => {
    const sketch = new ReachSketch({ decayRate: 3, maxSize: 60 });
    for (let vid = 1; vid <= 60; vid++) sketch.add(vid);
    const found = decrypted(Buffer.concat([...encrypter.reach(sketch)]), REACH_REGISTER_BYTES, 0);
    const expected = [...sketch.active.keys()].map((index) =>
      hexOf(sketch.active[index] === 1 ? String(index) : NOBODY_INDEX),
    );
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(found).not.toEqual(expected);
    expect(new Set(expected).size).toBeLessThan(60);
  });

  test('contains only padding, as distinct ciphertexts, if nobody was reached', () => {
    const registers = Buffer.concat([...encrypter.reach(new ReachSketch({ decayRate: 3, maxSize: 60 }))]);
    expect(decrypted(registers, REACH_REGISTER_BYTES, 0)).toEqual(Array(60).fill(hexOf(NOBODY_INDEX)));
    expect(
      new Set(Array.from({ length: 60 }, (_, i) => registers.toString('hex', i * 66, i * 66 + 66))).size,
    ).toBe(60);
  });
});

test('an encrypted frequency sketch contains indexes, keys and counts, with padding for empty registers', () => {
  const sketch = new FrequencySketch({ decayRate: 3, maxSize: 60, samplingIndicatorSize: 1000 });
  for (let vid = 1; vid <= 30; vid++) sketch.add(vid, 1 + (vid % 5));
  const maximum = 3;
  const counts = countPoints(curve, maximum + 1);
  const special = hexOf(DESTROYED_KEY);
  const expected = [...sketch.frequencies.keys()].map((index) => {
    if (sketch.frequencies[index] === 0) return [hexOf(NOBODY_INDEX), special, special].join();
    if (sketch.keys[index] === DESTROYED) return [hexOf(String(index)), special, special].join();
    const count = Math.min(sketch.frequencies[index]!, maximum + 1);
    return [hexOf(String(index)), hexOf(String(sketch.keys[index]! - 1)), hexAt(counts, count - 1)].join();
  });
  const registers = Buffer.concat([...encrypter.frequency(sketch, maximum)]);
  const columns = [0, 66, 132].map((at) => decrypted(registers, FREQUENCY_REGISTER_BYTES, at));
  const found = columns[0]!.map((index, i) => [index, columns[1]![i], columns[2]![i]].join());
  expect(found.toSorted()).toEqual(expected.toSorted());
  expect(new Set(found).size).toBeGreaterThan(15);
  expect(expected.filter((register) => register.includes(special)).length).toBeGreaterThan(
    expected.filter((register) => register.startsWith(hexOf(NOBODY_INDEX))).length,
  );
});

test('countPoints returns multiples of the unit point', () => {
  const points = countPoints(curve, 40);
  expect(hexAt(points, 0)).toBe(hexOf('unit_ec_point'));
  const [sum, unit] = curve.spare;
  const bytes = new Uint8Array(POINT_BYTES);
  curve.load(unit, points, 1);
  curve.copy(sum, unit);
  for (let i = 1; i < 40; i++) {
    curve.add(sum, sum, unit);
    curve.store(sum, bytes, 1);
    expect(hexAt(points, i)).toBe(hexAt(bytes, 0));
  }
});
