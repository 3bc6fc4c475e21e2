/**
 * Arithmetic on batches of affine P-256 points. An affine addition requires a field inversion, but one inversion serves
 * a whole batch: an addition then costs six multiplications, and a doubling seven. A batch cannot contain the point at
 * infinity.
 */
import { Field, type FieldArray } from './field.ts';
import { LANES, LIMBS } from './fieldKernel.ts';
import { PRIME } from './limbs.ts';

/** The size of a compressed point: one byte (2 if y is even, 3 if y is odd), followed by x. */
export const POINT_BYTES = 33;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

export interface Points {
  x: FieldArray;
  y: FieldArray;
}

/**
 * Thrown for bytes that do not encode a point, and if `checked` finds no inverse. Only a dishonest party can cause
 * either error.
 */
export class PointError extends Error {
  override name = 'PointError';
  readonly index: number;

  constructor(index: number, problem: string) {
    super(`point ${index}: ${problem}`);
    this.index = index;
  }
}

/** The last call to `load`, `loadX`, or `use` sets how many points of a batch the operations process. */
export class AffineBatches {
  readonly capacity: number;
  protected readonly field: Field;
  /** The number of points in use, including the points that pad the last quad (group of four). */
  protected used = 1;
  private readonly b: FieldArray;
  private readonly slope: FieldArray;
  private readonly divisor: FieldArray;
  private readonly scratch: FieldArray;

  constructor(capacity: number, batches: number) {
    this.capacity = capacity;
    this.field = new Field(capacity, 3 + 2 * batches);
    this.b = this.field.constant(B);
    this.slope = this.field.array();
    this.divisor = this.field.array();
    this.scratch = this.field.array();
  }

  /** Allocates a batch, which is never freed. */
  points(): Points {
    return { x: this.field.array(), y: this.field.array() };
  }

  load(into: Points, bytes: Uint8Array, count: number, stride = POINT_BYTES, at = 0): void {
    const rejected = this.loadX(into, bytes, count, stride, at + 1);
    for (let i = 0; i < count; i++) {
      const parity = bytes[at + i * stride];
      if (parity !== 2 && parity !== 3) throw new PointError(i, 'not a compressed point of 33 bytes');
      if (rejected.includes(i)) throw new PointError(i, 'not on the curve');
    }
    for (let i = 0; i < this.used; i++) {
      if (bytes[at + Math.min(i, count - 1) * stride] === 3) this.negateOne(into, i);
    }
  }

  /**
   * Loads points from their x coordinates, choosing the even y. Returns the indexes of the x coordinates for which the
   * curve has no point.
   */
  loadX(into: Points, bytes: Uint8Array, count: number, stride: number, at: number): number[] {
    const { field, scratch, slope } = this;
    const padded = this.use(count);
    const rejected: number[] = [];
    for (let i = 0; i < padded; i++) {
      const isBelow = field.read(into.x, i, bytes, at + Math.min(i, count - 1) * stride);
      if (!isBelow) rejected.push(i);
    }
    field.enter(into.x);
    // The curve's equation is y² = x³ − 3 x + b. Compute the right side as (x² − 3) x + b.
    field.square(scratch, into.x);
    field.addConstant(scratch, 1, scratch, -3, field.one);
    field.multiply(scratch, scratch, into.x);
    field.addConstant(scratch, 1, scratch, 1, this.b);
    field.squareRoot(into.y, scratch);
    field.square(slope, into.y);
    field.combine(scratch, 1, scratch, -1, slope);
    field.leave(slope, into.y);
    for (let i = 0; i < padded; i++) {
      if (!field.isZero(scratch, i)) rejected.push(i);
      if (field.isOdd(slope, i)) this.negateOne(into, i);
    }
    return rejected;
  }

  store(points: Points, bytes: Uint8Array, count: number, stride = POINT_BYTES, at = 0): void {
    const { field, scratch, slope } = this;
    field.leave(scratch, points.x);
    field.leave(slope, points.y);
    for (let i = 0; i < count; i++) {
      const to = at + i * stride;
      bytes[to] = field.isOdd(slope, i) ? 3 : 2;
      field.write(scratch, i, bytes, to + 1);
    }
  }

  /**
   * Sets how many points the next operations process. Returns this number rounded up to whole quads (groups of four).
   */
  use(count: number): number {
    this.used = this.field.use(count);
    return this.used;
  }

  copy(into: Points, points: Points): void {
    this.field.copy(into.x, points.x);
    this.field.copy(into.y, points.y);
  }

  negate(into: Points, points: Points): void {
    if (into !== points) this.field.copy(into.x, points.x);
    this.field.combine(into.y, -1, points.y, 0, points.y);
  }

  /**
   * Computes a + sign · b. Returns the indexes at which the sum is the point at infinity. The points in `into` at these
   * indexes are not valid.
   */
  add(into: Points, a: Points, b: Points, sign: 1 | -1 = 1): number[] {
    const { field, slope, divisor } = this;
    field.combine(slope, sign, b.y, -1, a.y);
    field.combine(divisor, 1, b.x, -1, a.x);
    let inverse = field.inverse(divisor);
    const infinite: number[] = [];
    if (inverse === undefined) {
      this.useTangents(a, infinite);
      inverse = field.inverse(divisor)!;
    }
    this.chord(into, a, b, inverse);
    return infinite;
  }

  /**
   * Where both points have the same x, replaces `slope` and `divisor` with the numerator and the denominator of the
   * tangent's slope. Adds the indexes of opposite points to `infinite`. The slope of opposite points does not matter,
   * because their sum is the point at infinity.
   */
  private useTangents(a: Points, infinite: number[]): void {
    const { field, slope, divisor } = this;
    for (let i = 0; i < this.used; i++) {
      if (!field.isZero(divisor, i)) continue;
      const [x, y] = [field.get(a.x, i), field.get(a.y, i)];
      if (!field.isZero(slope, i)) infinite.push(i);
      field.set(slope, i, 3n * (x * x + PRIME - 1n));
      field.set(divisor, i, 2n * y);
    }
  }

  /**
   * Computes a + b. The line through a and b meets the curve in a third point, and a + b is that point with the
   * opposite y. The line's slope is `slope` · `inverse`.
   */
  private chord(into: Points, a: Points, b: Points, inverse: FieldArray): void {
    const { field, slope, scratch } = this;
    field.multiply(slope, slope, inverse);
    field.square(scratch, slope);
    field.combine(scratch, 1, scratch, -1, b.x);
    field.combine(scratch, 1, scratch, -1, a.x);
    // The sum's y is (a.x − x) · slope − a.y, where x is the sum's x coordinate, stored in `scratch`.
    field.combine(this.divisor, 1, a.x, -1, scratch);
    field.multiply(slope, slope, this.divisor);
    field.combine(into.y, 1, slope, -1, a.y);
    field.copy(into.x, scratch);
  }

  protected addDistinct(into: Points, a: Points, b: Points, sign: 1 | -1 = 1): void {
    const { field, slope, divisor } = this;
    field.combine(slope, sign, b.y, -1, a.y);
    field.combine(divisor, 1, b.x, -1, a.x);
    this.chord(into, a, b, this.checked(field.inverse(divisor)));
  }

  double(into: Points, a: Points): void {
    const { field, slope, divisor } = this;
    field.square(slope, a.x);
    field.addConstant(slope, 3, slope, -3, field.one);
    field.combine(divisor, 1, a.y, 1, a.y);
    this.chord(into, a, a, this.checked(field.inverse(divisor)));
  }

  /**
   * Returns the inverse, or throws a PointError if `inverse` is undefined. There is no inverse if two points to add are
   * equal or opposite. Only a dishonest party can cause this error: with a scalar very close to 0 or to the group
   * order, or with a point that is a small multiple of another point.
   */
  private checked(inverse: FieldArray | undefined): FieldArray {
    if (inverse !== undefined) return inverse;
    const places = Array.from({ length: this.used }, (_, i) => i);
    const met = places.find((i) => this.field.isZero(this.divisor, i)) ?? 0;
    throw new PointError(met, 'a multiple of it met another');
  }

  private negateOne(points: Points, index: number): void {
    const { words } = this.field;
    const y = this.field.wordOf(points.y, index);
    for (let limb = 0; limb < LIMBS; limb++) words[y + LANES * limb]! *= -1;
  }
}
