/**
 * Tests that JavaScript and SQL compute the same bucket for each VID. Also tests that a VID at a bound of a sample is
 * in the sample exactly if the published sampling rule includes this VID. The rule computes the bounds with 32-bit
 * floats.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import {
  BUCKET_MASK,
  bucketRange,
  isSampled,
  sampleBucket,
} from '@measurement-exchange/mpc/privacy/vidSampling';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { expect, it } from 'vitest';
import { inRange, withBucket } from './sampling.ts';

/**
 * VIDs whose buckets are in the lower half of all buckets. A sample that begins at 0.75 wraps around, so it can end at
 * any of these buckets.
 */
const VIDS = [-3n, -2n, -1n, 0n, 1n, 2n, 3n, 4n, 5n, 6n].filter((vid) => sampleBucket(vid) < BUCKET_MASK / 2);
/** The distance between two adjacent 32-bit floats from 1 to 2, which is about the width of a bucket. */
const STEP = 2 ** -23;
const MANY = rounds(1_000_000);

it.each<[string, boolean, (u: number, bucket: number) => { start: number; width: number }]>([
  ['that begins at the VID', true, (u) => ({ start: u, width: 0.125 })],
  ['that begins just after it', false, (u) => ({ start: u + STEP, width: 0.125 })],
  ['that ends at it', false, (u) => ({ start: 0, width: u })],
  ['that ends just after it', true, (u) => ({ start: 0, width: u + STEP })],
  ['that wraps around and ends at it', false, (_u, bucket) => ({ start: 0.75, width: 0.25 + bucket * STEP })],
  [
    'that wraps around and ends just after it',
    true,
    (_u, bucket) => ({ start: 0.75, width: 0.25 + (bucket + 1) * STEP }),
  ],
])('an interval %s contains the VID: %s', async (_title, isIn, intervalOf) => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const people = VIDS.map((vid) => {
    const bucket = sampleBucket(vid);
    const interval = intervalOf(Math.fround(bucket / BUCKET_MASK), bucket);
    return { vid, interval, range: bucketRange(interval) };
  });
  const counts = people.map(
    ({ vid, range }) =>
      `SELECT count(*) AS n FROM ${withBucket(`(SELECT ${vid}::BIGINT AS vid, 0 AS n)`, 'n')} WHERE ${inRange(range)}`,
  );
  const result = await connection.runAndReadAll(counts.join(' UNION ALL '));
  expect(people.filter(({ vid, interval }) => isSampled(vid, interval) !== isIn)).toEqual([]);
  expect(result.getRows().filter(([n]) => (n === 1n) !== isIn)).toEqual([]);
  connection.closeSync();
  instance.closeSync();
});

it(`SQL and JavaScript compute the same buckets for ${MANY} VIDs of all 64 bits`, async () => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  // Use three kinds of VIDs in equal numbers: small VIDs, VIDs from the whole 64-bit range, and VIDs at both ends of
  // the range.
  const vid = `CASE i % 3 WHEN 0 THEN i WHEN 1 THEN CAST(hash(i)::HUGEINT - 9223372036854775808 AS BIGINT)
    ELSE CASE i % 2 WHEN 0 THEN 9223372036854775807 - i ELSE -9223372036854775808 + i END END`;
  const vids = `(SELECT ${vid} AS vid, 0 AS n FROM range(${MANY}) AS r(i))`;
  const result = await connection.stream(`SELECT vid, bucket FROM ${withBucket(vids, 'n')}`);
  let [found, wrong] = [0, 0];
  for await (const rows of result.yieldRows()) {
    found += rows.length;
    wrong += rows.filter(([each, bucket]) => sampleBucket(each as bigint) !== bucket).length;
  }
  expect({ found, wrong }).toEqual({ found: MANY, wrong: 0 });
  connection.closeSync();
  instance.closeSync();
});
