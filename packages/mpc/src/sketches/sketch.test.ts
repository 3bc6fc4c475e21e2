import { expect, test } from 'vitest';
import { expectedRegisters } from '../privacy/liquidLegions.ts';
import { FrequencySketch } from '../protocols/liquidLegionsV2/provider.ts';
import { ReachSketch } from '../protocols/reachOnlyLiquidLegionsV2/provider.ts';
import { Fingerprints } from './fingerprint.ts';
import { DESTROYED, RegisterIndexes } from './sketch.ts';

const PARAMS = { decayRate: 12, maxSize: 100_000, samplingIndicatorSize: 10_000_000 };

test('VIDs 1, 2 and 3 have the known registers and sampling indicators', () => {
  const indexes = new RegisterIndexes(PARAMS);
  const sketch = new FrequencySketch(PARAMS);
  expect([1, 2, 3].map((vid) => indexes.of(vid))).toEqual([2027, 6116, 3488]);
  expect([1, 2, 3].map((vid) => sketch.indicatorOf(vid))).toEqual([1311850, 1528384, 3408977]);
});

test('a VID has the same register as a number and as a BigInt, and 64-bit VIDs have registers', () => {
  const indexes = new RegisterIndexes(PARAMS);
  expect(indexes.of(123_456_789)).toBe(indexes.of(123_456_789n));
  for (const vid of [0n, 2n ** 31n - 2n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    const index = indexes.of(vid);
    expect(index).toBeGreaterThanOrEqual(0);
    expect(index).toBeLessThan(PARAMS.maxSize);
  }
});

test('fingerprints equal those of FarmHash, regardless of the VID that was hashed before', () => {
  for (const name of ['Index', 'SamplingIndicator'] as const) {
    const fingerprints = new Fingerprints(name);
    for (const vid of [0, 7, 99_999, 100_000, 2 ** 32 - 1, 2 ** 32, 2n ** 63n - 1n, -(2n ** 63n), 10]) {
      const { high, low } = fingerprints.of(vid);
      expect((BigInt(high) << 32n) + BigInt(low)).toBe(fingerprint64(`AnySketchFingerprint:${vid}:${name}`));
    }
  }
});

test('sampling indicators are exact up to the largest size', () => {
  for (const size of [1, 3, 2 ** 16, 2 ** 31, 2 ** 32 - 2]) {
    const sketch = new FrequencySketch({ decayRate: 1, maxSize: 1, samplingIndicatorSize: size });
    for (let vid = 1; vid <= 50; vid++) {
      const hash = fingerprint64(`AnySketchFingerprint:${vid}:SamplingIndicator`);
      expect(sketch.indicatorOf(vid)).toBe(Number(hash % BigInt(size)));
    }
  }
});

test('the number of active registers is within 3 % of expectedRegisters', () => {
  const size = { decayRate: 5, maxSize: 2000 };
  const sketch = new ReachSketch(size);
  const people = 5000;
  for (let vid = 1; vid <= people; vid++) sketch.add(vid);
  const active = sketch.active.reduce((sum, value) => sum + value, 0);
  expect(Math.abs(active / expectedRegisters(size, people) - 1)).toBeLessThan(0.03);
});

test('frequencies of one person are added, and two people with different indicators destroy a register', () => {
  const sketch = new FrequencySketch({ decayRate: 1, maxSize: 1, samplingIndicatorSize: 1000 });
  sketch.add(1, 2);
  sketch.add(1, 0);
  sketch.add(1, 3);
  expect([sketch.keys[0], sketch.frequencies[0]]).toEqual([sketch.indicatorOf(1) + 1, 5]);
  expect(sketch.indicatorOf(2)).not.toBe(sketch.indicatorOf(1));
  sketch.add(2, 1);
  expect(sketch.keys[0]).toBe(DESTROYED);
  sketch.add(1, 1);
  expect(sketch.keys[0]).toBe(DESTROYED);
});

test('two people with the same indicator are counted as one person', () => {
  const sketch = new FrequencySketch({ decayRate: 1, maxSize: 1, samplingIndicatorSize: 1 });
  sketch.add(1, 2);
  sketch.add(2, 3);
  expect([sketch.keys[0], sketch.frequencies[0]]).toEqual([1, 5]);
});

test('sketches reject a decayRate, maxSize or samplingIndicatorSize of 0', () => {
  expect(() => new ReachSketch({ decayRate: 0, maxSize: 10 })).toThrow('decayRate must be');
  expect(() => new ReachSketch({ decayRate: 1, maxSize: 0 })).toThrow('maxSize must be');
  expect(() => new FrequencySketch({ decayRate: 1, maxSize: 1, samplingIndicatorSize: 0 })).toThrow(
    'samplingIndicatorSize must be',
  );
});

/** An independent implementation of FarmHash Fingerprint64 for a text of 17 to 64 bytes. */
function fingerprint64(text: string): bigint {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  const u64 = (value: bigint) => BigInt.asUintN(64, value);
  const rotated = (word: bigint, by: bigint) => u64((word >> by) | (word << (64n - by)));
  const word = (at: number) => bytes.readBigUInt64LE(at);
  const [k1, k2] = [0xb492b66fbe98f273n, 0x9ae16a3b2f90404fn];
  const mul = k2 + BigInt(2 * length);
  const mixed = (u: bigint, v: bigint) => {
    const a = u64((u ^ v) * mul);
    const b = u64((v ^ a ^ (a >> 47n)) * mul);
    return u64((b ^ (b >> 47n)) * mul);
  };
  const [a, b] = [u64(word(0) * (length <= 32 ? k1 : k2)), word(8)];
  const [c, d] = [u64(word(length - 8) * mul), u64(word(length - 16) * k2)];
  const y = u64(rotated(u64(a + b), 43n) + rotated(c, 30n) + d);
  const z = mixed(y, u64(a + rotated(u64(b + k2), 18n) + c));
  if (length <= 32) return z;
  const [e, f] = [u64(word(16) * mul), word(24)];
  const g = u64((y + word(length - 32)) * mul);
  const h = u64((z + word(length - 24)) * mul);
  return mixed(u64(rotated(u64(e + f), 43n) + rotated(g, 30n) + h), u64(e + rotated(u64(f + a), 18n) + g));
}
