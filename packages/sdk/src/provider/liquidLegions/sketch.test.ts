import { expect, test } from 'vitest';
import { expectedRegisters } from '../../privacy/liquidLegions.ts';
import { Fingerprints } from './fingerprint.ts';
import { DESTROYED, FrequencySketch, ReachSketch, RegisterIndexes } from './sketch.ts';

const PARAMS = { decayRate: 12, maxSize: 100_000, samplingIndicatorSize: 10_000_000 };

test('VIDs 1, 2 and 3 have the known registers and sampling indicators', () => {
  const indexes = new RegisterIndexes(PARAMS);
  const sketch = new FrequencySketch(PARAMS);
  expect([1, 2, 3].map((vid) => indexes.of(vid))).toEqual([2027, 6116, 3488]);
  expect([1, 2, 3].map((vid) => sketch.indicatorOf(vid))).toEqual([1311850, 1528384, 3408977]);
});

test('a VID is the same person as a number and as a BigInt, up to the largest', () => {
  const indexes = new RegisterIndexes(PARAMS);
  expect(indexes.of(123_456_789)).toBe(indexes.of(123_456_789n));
  for (const vid of [0n, 2n ** 31n - 2n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    const index = indexes.of(vid);
    expect(index).toBeGreaterThanOrEqual(0);
    expect(index).toBeLessThan(PARAMS.maxSize);
  }
});

test('fingerprints do not depend on what was hashed before', () => {
  const fingerprints = new Fingerprints('Index');
  const first = fingerprints.of(7);
  fingerprints.of(2n ** 63n - 1n);
  expect(fingerprints.of(7)).toBe(first);
});

test('as many registers are active as are expected', () => {
  const size = { decayRate: 5, maxSize: 2000 };
  const sketch = new ReachSketch(size);
  const people = 5000;
  for (let vid = 1; vid <= people; vid++) sketch.add(vid);
  const active = sketch.active.reduce((sum, value) => sum + value, 0);
  expect(Math.abs(active / expectedRegisters(size, people) - 1)).toBeLessThan(0.03);
});

test('one person adds up, and two of different indicators destroy their register', () => {
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

test('two people with the same indicator look like one', () => {
  const sketch = new FrequencySketch({ decayRate: 1, maxSize: 1, samplingIndicatorSize: 1 });
  sketch.add(1, 2);
  sketch.add(2, 3);
  expect([sketch.keys[0], sketch.frequencies[0]]).toEqual([1, 5]);
});

test('parameters that make no sketch are rejected', () => {
  expect(() => new ReachSketch({ decayRate: 0, maxSize: 10 })).toThrow('decayRate must be');
  expect(() => new ReachSketch({ decayRate: 1, maxSize: 0 })).toThrow('maxSize must be');
  expect(() => new FrequencySketch({ decayRate: 1, maxSize: 1, samplingIndicatorSize: 0 })).toThrow(
    'samplingIndicatorSize must be',
  );
});
