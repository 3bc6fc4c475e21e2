/** Multiplies P-256 points by scalars, in batches. */
import { AffineBatches, POINT_BYTES, type Points } from './affine.ts';
import { toBytes } from './bigEndian.ts';
import { LANES, LIMBS } from './fieldKernel.ts';
import { digitOf, halve, SCALAR_BYTES } from './scalars.ts';

const GENERATOR_X = 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n;
/** The compressed generator. Its y is odd. */
export const GENERATOR = Uint8Array.from([3, ...toBytes(GENERATOR_X)]);

/**
 * Table dimensions for multiplying many different points: the bits per digit of a scalar, and the entries per table.
 */
const WINDOW = 4;
const ENTRIES = 2 ** (WINDOW - 1);
/**
 * Table dimensions for multiplying one fixed point: the bits per digit of a scalar, the entries per digit, and the
 * number of digits.
 */
const FIXED_WINDOW = 8;
const FIXED_ENTRIES = 2 ** (FIXED_WINDOW - 1);
const FIXED_DIGITS = (8 * SCALAR_BYTES) / FIXED_WINDOW;
/** The size of a table entry in 32-bit words. An entry has both coordinates of a point. */
const ENTRY_WORDS = 2 * LIMBS;

/**
 * The number of points per batch. Every addition on a batch needs one field inversion, which costs little per point at
 * this size. A `Curve` takes about 9 MB.
 */
export const BATCH = 4096;
/** The number of batches of points that callers can allocate. */
const POINTS = 6;

/**
 * A precomputed table for one point P. For each digit i, the table contains the point 2^(8 i) · P times 1, 3, 5, …,
 * 255. All `Curve` instances can share the table.
 */
export type FixedBase = Int32Array;

let generatorTable: FixedBase | undefined;

/** Points to add to a sum, or to subtract if `sign` is negative. Each digit of a scalar contributes one term. */
interface Term {
  points: Points;
  sign: number;
}

/** Returns the term for the digit at `place`. Place 0 is the lowest digit. */
type Digits = (place: number) => Term;

/** Each thread needs its own curve, because all batches of a curve share memory. */
export class Curve extends AffineBatches {
  /** Scratch batches that all callers share. Every caller is allowed to overwrite these batches. */
  readonly spare: readonly [Points, Points];
  private readonly sum: Points;
  private readonly chosen: Points;
  private readonly table: Points[];
  private readonly otherTable: Points[];
  private readonly halves: Uint8Array;
  private readonly otherHalves: Uint8Array;

  constructor(atLeast = BATCH) {
    super(Math.max(atLeast, FIXED_DIGITS), 4 + 2 * ENTRIES + POINTS);
    this.spare = [this.points(), this.points()];
    this.sum = this.points();
    this.chosen = this.points();
    this.table = Array.from({ length: ENTRIES }, () => this.points());
    this.otherTable = Array.from({ length: ENTRIES }, () => this.points());
    this.halves = new Uint8Array((this.capacity + LANES) * SCALAR_BYTES);
    this.otherHalves = new Uint8Array(this.halves.length);
  }

  /**
   * Multiplies all points by one scalar. The sequence of additions and doublings is the same for every scalar. The
   * scalar only determines which table entries are added, and their signs.
   */
  multiply(into: Points, points: Points, scalar: Uint8Array): void {
    this.makeTable(this.table, points);
    this.sumOf(into, this.commonDigits(this.table, scalar));
  }

  multiplyEach(into: Points, points: Points, scalars: Uint8Array): void {
    this.makeTable(this.table, points);
    this.sumOf(into, this.ownDigits(this.table, scalars, this.halves));
  }

  /**
   * Replaces a with s · a, and b with s · b + t · a. Both results use the table of a, and s · b + t · a needs only one
   * chain of doublings. Separate multiplications would be slower.
   */
  multiplyPair(a: Points, b: Points, s: Uint8Array, t: Uint8Array): void {
    this.makeTable(this.table, a);
    this.makeTable(this.otherTable, b);
    this.sumOf(a, this.commonDigits(this.table, s));
    this.sumOf(b, this.commonDigits(this.otherTable, s), this.commonDigits(this.table, t));
  }

  multiplyPairEach(a: Points, b: Points, s: Uint8Array, t: Uint8Array): void {
    this.makeTable(this.table, a);
    this.makeTable(this.otherTable, b);
    this.sumOf(a, this.ownDigits(this.table, s, this.halves));
    const digits = this.ownDigits(this.otherTable, s, this.halves);
    this.sumOf(b, digits, this.ownDigits(this.table, t, this.otherHalves));
  }

  private commonDigits(table: Points[], scalar: Uint8Array): Digits {
    const halves = new Uint8Array(SCALAR_BYTES);
    const scalarSign = halve(scalar, 0, halves, 0);
    return (place) => {
      const { entry, sign } = digitOf(nibble(halves, 0, place), WINDOW);
      return { points: table[entry]!, sign: sign * scalarSign };
    };
  }

  /**
   * Returns the digits of several scalars, one scalar per point. All terms share the batch `chosen`, so each term
   * overwrites the previous one.
   */
  private ownDigits(table: Points[], scalars: Uint8Array, halves: Uint8Array): Digits {
    const signs = this.halveAll(scalars, halves);
    return (place) => {
      for (let i = 0; i < this.used; i++) {
        const { entry, sign } = digitOf(nibble(halves, i * SCALAR_BYTES, place), WINDOW);
        this.choose(i, table[entry]!, sign * signs[i]!);
      }
      return { points: this.chosen, sign: 1 };
    };
  }

  /** Computes one product, or the sum of two products, digit by digit from the highest digit to the lowest. */
  private sumOf(into: Points, first: Digits, ...others: Digits[]): void {
    const highest = (8 * SCALAR_BYTES) / WINDOW - 1;
    const add = ({ points, sign }: Term) => this.addDistinct(this.sum, this.sum, points, sign < 0 ? -1 : 1);
    const { points, sign } = first(highest);
    if (sign < 0) this.negate(this.sum, points);
    else this.copy(this.sum, points);
    for (const digits of others) add(digits(highest));
    for (let place = highest - 1; place >= 0; place--) {
      for (let i = 0; i < WINDOW; i++) this.double(this.sum, this.sum);
      add(first(place));
      for (const digits of others) add(digits(place));
    }
    this.copy(into, this.sum);
  }

  /** Fills the table with 1, 3, 5, … times each point. */
  private makeTable(table: Points[], points: Points): void {
    this.copy(table[0]!, points);
    this.double(this.chosen, points);
    for (let i = 1; i < ENTRIES; i++) this.addDistinct(table[i]!, table[i - 1]!, this.chosen);
  }

  private choose(index: number, from: Points, sign: number): void {
    const { words } = this.field;
    let x = this.field.wordOf(this.chosen.x, index);
    let y = this.field.wordOf(this.chosen.y, index);
    let fromX = this.field.wordOf(from.x, index);
    let fromY = this.field.wordOf(from.y, index);
    for (let limb = 0; limb < LIMBS; limb++) {
      words[x] = words[fromX]!;
      words[y] = sign * words[fromY]!;
      x += LANES;
      y += LANES;
      fromX += LANES;
      fromY += LANES;
    }
  }

  get generator(): FixedBase {
    generatorTable ??= this.fixedBase(GENERATOR);
    return generatorTable;
  }

  fixedBase(point: Uint8Array): FixedBase {
    // Element i of the batch is the point times 2^(8 i). The loop below computes the odd multiples of each element.
    const powers = new Uint8Array(FIXED_DIGITS * POINT_BYTES);
    this.load(this.sum, point, 1);
    for (let i = 0; i < FIXED_DIGITS; i++) {
      this.store(this.sum, powers, 1, POINT_BYTES, i * POINT_BYTES);
      for (let bit = 0; bit < FIXED_WINDOW; bit++) this.double(this.sum, this.sum);
    }
    this.load(this.sum, powers, FIXED_DIGITS);
    this.double(this.chosen, this.sum);
    const base = new Int32Array(FIXED_DIGITS * FIXED_ENTRIES * ENTRY_WORDS);
    for (let entry = 0; entry < FIXED_ENTRIES; entry++) {
      for (let i = 0; i < FIXED_DIGITS; i++) this.keepEntry(base, i, entry);
      if (entry + 1 < FIXED_ENTRIES) this.addDistinct(this.sum, this.sum, this.chosen);
    }
    return base;
  }

  private keepEntry(base: FixedBase, digit: number, entry: number): void {
    const { words } = this.field;
    const x = this.field.wordOf(this.sum.x, digit);
    const y = this.field.wordOf(this.sum.y, digit);
    const at = (digit * FIXED_ENTRIES + entry) * ENTRY_WORDS;
    for (let limb = 0; limb < LIMBS; limb++) {
      base[at + limb] = words[x + LANES * limb]!;
      base[at + LIMBS + limb] = words[y + LANES * limb]!;
    }
  }

  multiplyFixed(into: Points, base: FixedBase, scalars: Uint8Array): void {
    this.use(scalars.length / SCALAR_BYTES);
    const signs = this.halveAll(scalars, this.halves);
    for (let place = 0; place < FIXED_DIGITS; place++) {
      this.chooseFixed(base, place, signs);
      if (place === 0) this.copy(this.sum, this.chosen);
      else this.addDistinct(this.sum, this.sum, this.chosen);
    }
    this.copy(into, this.sum);
  }

  private chooseFixed(base: FixedBase, place: number, signs: Int8Array): void {
    const { words } = this.field;
    for (let i = 0; i < this.used; i++) {
      const { entry, sign } = digitOf(this.halves[i * SCALAR_BYTES + place]!, FIXED_WINDOW);
      const ySign = sign * signs[i]!;
      let x = this.field.wordOf(this.chosen.x, i);
      let y = this.field.wordOf(this.chosen.y, i);
      let from = (place * FIXED_ENTRIES + entry) * ENTRY_WORDS;
      for (let limb = 0; limb < LIMBS; limb++) {
        words[x] = base[from]!;
        words[y] = ySign * base[from + LIMBS]!;
        x += LANES;
        y += LANES;
        from++;
      }
    }
  }

  /**
   * Calls `halve` for every scalar, and returns the signs that the calls return. The last scalar is repeated to pad the
   * last quad (group of four).
   */
  private halveAll(scalars: Uint8Array, halves: Uint8Array): Int8Array {
    const given = scalars.length / SCALAR_BYTES;
    if (this.field.use(given) !== this.used) throw new RangeError('there must be a scalar for each point');
    const signs = new Int8Array(this.used);
    for (let i = 0; i < this.used; i++) {
      signs[i] = halve(scalars, Math.min(i, given - 1) * SCALAR_BYTES, halves, i * SCALAR_BYTES);
    }
    return signs;
  }
}

/** Returns the four bits at `place` in the number that starts at index `at`. Place 0 is the lowest four bits. */
function nibble(halves: Uint8Array, at: number, place: number): number {
  return (halves[at + (place >>> 1)]! >>> (4 * (place & 1))) & 0xf;
}
