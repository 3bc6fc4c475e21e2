import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../test/privacy/seededRandom.ts';
import { uniformBelow32 } from '../../privacy/random.ts';
import { FARMHASH_K2 } from '../../privacy/vidSampling.ts';
import { hashVid, orderVids, VidPositions } from './vidOrder.ts';

const u64 = (value: bigint) => BigInt.asUintN(64, value);
const rotateRight = (word: bigint, by: bigint) => u64((word >> by) | (word << (64n - by)));

/** Fingerprint64 of 16 bytes, with big integers. */
function reference(vid: number): bigint {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigInt64(0, BigInt(vid));
  bytes.setBigInt64(8, 21_858_450n);
  const [first, second] = [bytes.getBigUint64(0, true), bytes.getBigUint64(8, true)];
  const mul = FARMHASH_K2 + 32n;
  const a = u64(first + FARMHASH_K2);
  const c = u64(rotateRight(second, 37n) * mul + a);
  const d = u64((rotateRight(a, 25n) + second) * mul);
  let x = u64((c ^ d) * mul);
  x ^= x >> 47n;
  let y = u64((d ^ x) * mul);
  y ^= y >> 47n;
  return BigInt.asIntN(64, y * mul);
}

function hashOf(vid: number): bigint {
  const hash = new Int32Array(2);
  hashVid(vid, hash);
  return (BigInt(hash[0]!) << 32n) | BigInt(hash[1]! >>> 0);
}

describe('the hash of a VID', () => {
  test.each([
    [1, 7_291_877_513_898_648_417n],
    [2, 6_083_786_553_337_411_393n],
    [3, -1_925_089_391_325_138_332n],
  ])('%d is that of the vector', (vid, hash) => expect(hashOf(vid)).toBe(hash));

  test('is FarmHash Fingerprint64, for VIDs of any size', () => {
    const random = seededRandom('vids');
    for (let i = 0; i < 5000; i++) {
      const vid = uniformBelow32(2 ** (1 + (i % 31)), random);
      expect(hashOf(vid)).toBe(reference(vid));
    }
    expect(hashOf(2 ** 31 - 2)).toBe(reference(2 ** 31 - 2));
  });
});

describe('the order of VIDs', () => {
  test('1 to 10 is that of the vector', () => {
    const indexes = orderVids([{ start: 1, end: 10 }]);
    const order = Array.from(indexes, (_, index) => indexes.indexOf(index) + 1);
    expect(order).toEqual([4, 9, 10, 5, 3, 6, 8, 2, 7, 1]);
  });

  test.each([
    [[[7, 7]]],
    [[[1, 3000]]],
    [
      [
        [1, 1000],
        [5000, 5000],
        [2_000_000, 2_003_999],
        [2 ** 31 - 1002, 2 ** 31 - 2],
      ],
    ],
    [[[100, 40_099]]],
  ])('%j is by signed hash, whatever the ranges', (pairs) => {
    const ranges = pairs.map(([start, end]) => ({ start: start!, end: end! }));
    const vids = ranges.flatMap(({ start, end }) =>
      Array.from({ length: end - start + 1 }, (_, i) => start + i),
    );
    const hashes = new Map(vids.map((vid) => [vid, reference(vid)]));
    const sorted = vids.toSorted((a, b) => (hashes.get(a)! < hashes.get(b)! ? -1 : 1));
    const expected = new Map(sorted.map((vid, index) => [vid, index]));
    const indexes = orderVids(ranges);
    expect(indexes).toHaveLength(vids.length);
    expect(vids.filter((vid, position) => indexes[position] !== expected.get(vid))).toEqual([]);
  });
});

test('a VID has a position in one of the ranges, or none', () => {
  const positions = new VidPositions([
    { start: 5, end: 5 },
    { start: 10, end: 12 },
    { start: 100, end: 101 },
  ]);
  expect(positions.size).toBe(6);
  expect([5, 10, 11, 12, 100, 101].map((vid) => positions.of(vid))).toEqual([0, 1, 2, 3, 4, 5]);
  for (const vid of [0, 4, 6, 9, 13, 99, 102, 2 ** 40, -1]) expect(positions.of(vid)).toBe(-1);
});
