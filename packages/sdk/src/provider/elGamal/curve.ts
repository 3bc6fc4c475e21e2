/** Multiplying points of P-256 by scalars, in batches. */
import { AffineBatches, POINT_BYTES, type Points } from './affine.ts';
import { toBytes } from './bigEndian.ts';
import { LANES, LIMBS } from './fieldKernel.ts';
import { digitOf, halve, SCALAR_BYTES } from './scalars.ts';

const GENERATOR_X = 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n;
/** Its y is odd. */
export const GENERATOR = Uint8Array.from([3, ...toBytes(GENERATOR_X)]);

/** Bits of a digit where every point has a table of its own, and entries of the table. */
const WINDOW = 4;
const ENTRIES = 2 ** (WINDOW - 1);
/** The same for the table of a point that is multiplied often. */
const FIXED_WINDOW = 8;
const FIXED_ENTRIES = 2 ** (FIXED_WINDOW - 1);
const FIXED_DIGITS = (8 * SCALAR_BYTES) / FIXED_WINDOW;
/** Both coordinates. */
const ENTRY_WORDS = 2 * LIMBS;

/** Points that a batch can have: enough that the one inversion counts for little; about 7 MB of memory. */
export const BATCH = 4096;
/** Batches of points that can be allocated. */
const POINTS = 6;

/** Odd multiples of a point times 2^(8 i), for every i. Any curve can use it. */
export type FixedBase = Int32Array;

let generatorTable: FixedBase | undefined;

/** One per thread: batches share its memory. */
export class Curve extends AffineBatches {
  /** For whoever needs a batch that no other call has to find unchanged. */
  readonly spare: readonly [Points, Points];
  private readonly sum: Points;
  private readonly chosen: Points;
  private readonly table: Points[];
  private readonly halves: Uint8Array;

  constructor(atLeast = BATCH) {
    super(Math.max(atLeast, FIXED_DIGITS), 4 + ENTRIES + POINTS);
    this.spare = [this.points(), this.points()];
    this.sum = this.points();
    this.chosen = this.points();
    this.table = Array.from({ length: ENTRIES }, () => this.points());
    this.halves = new Uint8Array((this.capacity + LANES) * SCALAR_BYTES);
  }

  /** All points by the same scalar. What is done depends on it only in which entries of the tables are added. */
  multiply(into: Points, points: Points, scalar: Uint8Array): void {
    this.makeTable(points);
    const sign = halve(scalar, 0, this.halves, 0);
    this.digits((place) => {
      const digit = digitOf(nibble(this.halves, 0, place), WINDOW);
      return { points: this.table[digit.entry]!, sign: digit.sign };
    });
    if (sign < 0) this.negate(into, this.sum);
    else this.copy(into, this.sum);
  }

  /** Each point by a scalar of its own. */
  multiplyEach(into: Points, points: Points, scalars: Uint8Array): void {
    this.makeTable(points);
    const signs = this.halveAll(scalars);
    this.digits((place) => {
      for (let i = 0; i < this.used; i++) {
        const { entry, sign } = digitOf(nibble(this.halves, i * SCALAR_BYTES, place), WINDOW);
        this.choose(i, this.table[entry]!, sign * signs[i]!);
      }
      return { points: this.chosen, sign: 1 };
    });
    this.copy(into, this.sum);
  }

  /** Adds up the digits from the highest on. */
  private digits(entryAt: (place: number) => { points: Points; sign: 1 | -1 }): void {
    const highest = (8 * SCALAR_BYTES) / WINDOW - 1;
    this.copy(this.sum, entryAt(highest).points);
    for (let place = highest - 1; place >= 0; place--) {
      for (let i = 0; i < WINDOW; i++) this.double(this.sum, this.sum);
      const { points, sign } = entryAt(place);
      this.addDistinct(this.sum, this.sum, points, sign);
    }
  }

  /** 1, 3, 5 … times each point. */
  private makeTable(points: Points): void {
    const [first] = this.table as [Points];
    this.copy(first, points);
    this.double(this.chosen, points);
    for (let i = 1; i < ENTRIES; i++) this.addDistinct(this.table[i]!, this.table[i - 1]!, this.chosen);
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

  /** The table of a point that is multiplied often. */
  fixedBase(point: Uint8Array): FixedBase {
    // The points times 2^(8 i), of which each place of the batch then has the odd multiples.
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

  /** The point of a table by each scalar. */
  multiplyFixed(into: Points, base: FixedBase, scalars: Uint8Array): void {
    this.use(scalars.length / SCALAR_BYTES);
    const signs = this.halveAll(scalars);
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

  /** The digits of all scalars to `halves`; returns their signs. The last scalar stands for what fills up the quad. */
  private halveAll(scalars: Uint8Array): Int8Array {
    const given = scalars.length / SCALAR_BYTES;
    if (this.field.use(given) !== this.used) throw new RangeError('there must be a scalar for each point');
    const signs = new Int8Array(this.used);
    for (let i = 0; i < this.used; i++) {
      signs[i] = halve(scalars, Math.min(i, given - 1) * SCALAR_BYTES, this.halves, i * SCALAR_BYTES);
    }
    return signs;
  }
}

/** Four bits of a scalar, from the lowest on. */
function nibble(halves: Uint8Array, at: number, place: number): number {
  return (halves[at + (place >>> 1)]! >>> (4 * (place & 1))) & 0xf;
}
