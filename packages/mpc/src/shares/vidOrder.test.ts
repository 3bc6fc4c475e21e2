import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { byVidHash, vidHash } from '@measurement-exchange/testkit/vidHash';
import { describe, expect, test } from 'vitest';
import { hashVid } from '../privacy/farmHash.ts';
import { uniformBelow32 } from '../privacy/random.ts';
import { orderVids, VidPositions } from './vidOrder.ts';

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
  ])('of VID %d equals the test vector', (vid, hash) => expect(hashOf(vid)).toBe(hash));

  test('is FarmHash Fingerprint64 for VIDs of any size', () => {
    const random = seededRandom('vids');
    for (let i = 0; i < 5000; i++) {
      const vid = uniformBelow32(2 ** (1 + (i % 31)), random);
      expect(hashOf(vid)).toBe(vidHash(vid));
    }
    expect(hashOf(2 ** 31 - 2)).toBe(vidHash(2 ** 31 - 2));
  });
});

describe('the order of VIDs', () => {
  test('1 to 10 equals the test vector', () => {
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
  ])('of the ranges %j is by signed hash', (pairs) => {
    const ranges = pairs.map(([start, end]) => ({ start: start!, end: end! }));
    const vids = ranges.flatMap(({ start, end }) =>
      Array.from({ length: end - start + 1 }, (_, i) => start + i),
    );
    const expected = new Map(byVidHash(vids).map((vid, index) => [vid, index]));
    const indexes = orderVids(ranges);
    expect(indexes).toHaveLength(vids.length);
    expect(vids.filter((vid, position) => indexes[position] !== expected.get(vid))).toEqual([]);
  });
});

test('VidPositions returns the position of a VID in the ranges, or -1 if it is in none of them', () => {
  const positions = new VidPositions([
    { start: 5, end: 5 },
    { start: 10, end: 12 },
    { start: 100, end: 101 },
  ]);
  expect(positions.size).toBe(6);
  expect([5, 10, 11, 12, 100, 101].map((vid) => positions.of(vid))).toEqual([0, 1, 2, 3, 4, 5]);
  for (const vid of [0, 4, 6, 9, 13, 99, 102, 2 ** 40, -1]) expect(positions.of(vid)).toBe(-1);
});
