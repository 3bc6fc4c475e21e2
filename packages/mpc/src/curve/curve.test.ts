import { rounds } from '@measurement-exchange/testkit/rounds';
import { p256 } from '@noble/curves/nist.js';
import { beforeAll, expect, test } from 'vitest';
import { Keystream } from '../shares.ts';
import { POINT_BYTES } from './affine.ts';
import { toBytes, toNumber } from './bigEndian.ts';
import { Curve, GENERATOR } from './curve.ts';
import { drawScalars, ORDER, SCALAR_BYTES } from './scalars.ts';

const { Point } = p256;
type NoblePoint = InstanceType<typeof Point>;

const COUNT = rounds(500, 10);
const random = new Keystream(new Uint8Array(48).fill(1));
const curve = new Curve(Math.max(64, COUNT + 5));
const [p, q, r] = [curve.points(), curve.points(), curve.points()];
let some: NoblePoint[];
let others: NoblePoint[];

beforeAll(() => {
  some = randomPoints();
  others = randomPoints();
});

function randomPoints(): NoblePoint[] {
  return scalarsOf(drawScalars(random, COUNT)).map((scalar) => Point.BASE.multiply(scalar));
}

function scalarsOf(bytes: Uint8Array): bigint[] {
  return Array.from({ length: bytes.length / SCALAR_BYTES }, (_, i) =>
    toNumber(bytes.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)),
  );
}

function bytesOf(points: NoblePoint[]): Buffer {
  return Buffer.concat(points.map((point) => point.toBytes(true)));
}

function stored(points: typeof p, count = COUNT): Buffer {
  const bytes = Buffer.alloc(count * POINT_BYTES);
  curve.store(points, bytes, count);
  return bytes;
}

function load(into: typeof p, points: NoblePoint[]): void {
  curve.load(into, bytesOf(points), points.length);
}

test('points are decompressed and compressed', () => {
  load(p, some);
  expect(stored(p)).toEqual(bytesOf(some));
  expect(stored(p, 1)).toEqual(Buffer.from(some[0]!.toBytes(true)));
  expect(Buffer.from(Point.BASE.toBytes(true))).toEqual(Buffer.from(GENERATOR));
});

test('points are added, subtracted, doubled and negated as an independent library does it', () => {
  load(p, some);
  load(q, others);
  expect(curve.add(r, p, q)).toEqual([]);
  expect(stored(r)).toEqual(bytesOf(some.map((point, i) => point.add(others[i]!))));
  expect(curve.add(r, p, q, -1)).toEqual([]);
  expect(stored(r)).toEqual(bytesOf(some.map((point, i) => point.subtract(others[i]!))));
  curve.double(r, p);
  expect(stored(r)).toEqual(bytesOf(some.map((point) => point.double())));
  curve.negate(r, p);
  expect(stored(r)).toEqual(bytesOf(some.map((point) => point.negate())));
});

test('a point plus itself is doubled, and plus its negative is reported to be at infinity', () => {
  const mixed = others.map((point, i) =>
    i === 2 ? some[2]! : i === 4 || i === 7 ? some[i]!.negate() : point,
  );
  load(p, some);
  load(q, mixed);
  expect(curve.add(r, p, q)).toEqual([4, 7]);
  const sums = some.map((point, i) => point.add(mixed[i]!));
  for (let i = 0; i < COUNT; i++) {
    if (i === 4 || i === 7) continue;
    expect(stored(r).subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES)).toEqual(
      Buffer.from(sums[i]!.toBytes(true)),
    );
  }
});

test('points are multiplied by one scalar, odd or even', () => {
  load(p, some);
  for (const scalar of [...scalarsOf(drawScalars(random, 2)), 1n, 64n, ORDER - 1n]) {
    curve.multiply(q, p, toBytes(scalar));
    expect(stored(q)).toEqual(bytesOf(some.map((point) => point.multiply(scalar))));
  }
});

test('each point is multiplied by its own scalar', () => {
  load(p, some);
  const scalars = drawScalars(random, COUNT);
  curve.multiplyEach(q, p, scalars);
  expect(stored(q)).toEqual(bytesOf(scalarsOf(scalars).map((scalar, i) => some[i]!.multiply(scalar))));
});

test('pairs of points are multiplied by common scalars, and by separate scalars for each pair', () => {
  const expectPairs = (scalars: bigint[], more: bigint[]) => {
    expect(stored(p)).toEqual(bytesOf(some.map((point, i) => point.multiply(scalars[i]!))));
    const sums = others.map((point, i) => point.multiply(scalars[i]!).add(some[i]!.multiply(more[i]!)));
    expect(stored(q)).toEqual(bytesOf(sums));
  };
  // Use one odd and one even scalar, because the parity of a scalar decides the sign of all its terms.
  for (const round of [1, 2]) {
    const [s, t] = [drawScalars(random, 1), drawScalars(random, 1)];
    s[SCALAR_BYTES - 1] = (s[SCALAR_BYTES - 1]! & 0xfe) | (round & 1);
    t[SCALAR_BYTES - 1] = (t[SCALAR_BYTES - 1]! & 0xfe) | (round >> 1);
    load(p, some);
    load(q, others);
    curve.multiplyPair(p, q, s, t);
    expectPairs(Array(COUNT).fill(toNumber(s)), Array(COUNT).fill(toNumber(t)));
  }
  const [s, t] = [drawScalars(random, COUNT), drawScalars(random, COUNT)];
  load(p, some);
  load(q, others);
  curve.multiplyPairEach(p, q, s, t);
  expectPairs(scalarsOf(s), scalarsOf(t));
});

test('a pair in which one point is a small multiple of the other is rejected with its index', () => {
  load(p, some);
  load(
    q,
    some.map((point, i) => (i === 3 ? point : others[i]!)),
  );
  const s = drawScalars(random, 1);
  s[0] = 0;
  expect(() => curve.multiplyPair(p, q, s, s)).toThrow('point 3: a multiple of it met another');
});

test('a fixed base point is multiplied by many scalars, including small ones', () => {
  const table = curve.fixedBase(some[0]!.toBytes(true));
  const scalars = Buffer.concat([drawScalars(random, COUNT), ...[1n, 2n, 3n, 255n, ORDER - 1n].map(toBytes)]);
  curve.multiplyFixed(p, table, scalars);
  expect(stored(p, scalars.length / SCALAR_BYTES)).toEqual(
    bytesOf(scalarsOf(scalars).map((scalar) => some[0]!.multiply(scalar))),
  );
  curve.multiplyFixed(p, curve.generator, scalars);
  expect(stored(p, 1)).toEqual(Buffer.from(Point.BASE.multiply(scalarsOf(scalars)[0]!).toBytes(true)));
});

test('bytes that are not a compressed point are rejected with their index', () => {
  const spoiled = (place: number, change: (point: Buffer) => void) => {
    const bytes = bytesOf(some);
    change(bytes.subarray(place * POINT_BYTES, (place + 1) * POINT_BYTES));
    return () => curve.load(p, bytes, COUNT);
  };
  for (const prefix of [0, 1, 4, 255]) {
    expect(spoiled(3, (point) => void point.fill(prefix, 0, 1))).toThrow(
      'point 3: not a compressed point of 33 bytes',
    );
  }
  expect(spoiled(5, (point) => void point.fill(0xff, 1))).toThrow('point 5: not on the curve');
  // The curve has no point with x = 1.
  expect(spoiled(9, (point) => void point.fill(0, 1, 32).fill(1, 32))).toThrow('point 9: not on the curve');
});

test('a scalar that is 0 or not below the order is rejected', () => {
  load(p, some);
  for (const scalar of [0n, ORDER, 2n ** 256n - 1n]) {
    expect(() => curve.multiply(q, p, toBytes(scalar))).toThrow('a scalar must be from 1 to the order');
  }
});

test('a small scalar gives the correct point or is rejected, but never gives a wrong point', () => {
  load(p, some);
  for (const scalar of [2n, 30n, 32n]) {
    const expected = bytesOf(some.map((point) => point.multiply(scalar)));
    try {
      curve.multiply(q, p, toBytes(scalar));
    } catch (error) {
      expect(String(error)).toContain('a multiple of it met another');
      continue;
    }
    expect(stored(q)).toEqual(expected);
  }
});
