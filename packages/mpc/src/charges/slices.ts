/**
 * A slice is the set of people that a measurement can depend on. If the slices of two measurements have nobody in
 * common, each person is charged for at most one of them. The cost of a place in the ledger (an event group reference
 * and a day) is the highest total charge of any one person.
 */
import { addUnits, largerUnits, NOTHING, type Units } from './amounts.ts';
import { type Interval, joinIntervals } from './intervals.ts';

/**
 * A slice as a list of intervals for each axis. A person has one position on each axis, such as a VID or a sampling
 * bucket. The slice holds a person if, on each axis, one of the slice's intervals contains the person's position. A
 * slice without axes holds everybody.
 */
export type Slice = Readonly<Record<string, readonly Interval[]>>;

/** The text of the slice that holds everybody. */
export const EVERYBODY = '{}';

/**
 * The limits for one place in the ledger: the number of slices, and the number of maximal combinations of slices that
 * one person can be in. A combination is maximal if it is not part of a larger one. Beyond either limit, the cost of a
 * measurement with a new slice is charged to everybody.
 */
const MAX_SLICES = 128;
const MAX_COVERS = 1024;
/**
 * The limit on the total number of slices in all maximal combinations. A budget check adds up at most this many
 * amounts.
 */
const MAX_MEMBERS = 4096;
const MAX_CACHED = 1000;

/**
 * Returns the slice as text. Equal slices have equal texts. A slice that holds nobody counts as everybody. Otherwise, a
 * measurement of such a slice would be free, and could be repeated without end.
 */
export function sliceText(slice: Slice): string {
  const axes = Object.entries(slice).map(([axis, intervals]) => [axis, joinIntervals(intervals)] as const);
  if (axes.some(([, intervals]) => intervals.length === 0)) return EVERYBODY;
  const sorted = axes.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(
      sorted.map(([axis, intervals]) => [axis, intervals.map(({ start, end }) => [`${start}`, `${end}`])]),
    ),
  );
}

function parseSlice(text: string): Slice {
  const axes = Object.entries(JSON.parse(text) as Record<string, [string, string][]>);
  return Object.fromEntries(
    axes.map(([axis, intervals]) => [
      axis,
      joinIntervals(intervals.map(([start, end]) => ({ start: BigInt(start), end: BigInt(end) }))),
    ]),
  );
}

/** The amounts charged to each slice, by the slice's text. */
export type SlicedAmounts = ReadonlyMap<string, Units>;

/** Adds up the charges to slices, and caches which slices have people in common. */
export class SliceSums {
  private readonly parsed = new Map<string, { id: number; slice: Slice }>();
  private readonly covers = new Map<string, number[][] | undefined>();

  /**
   * Returns the slice `wanted`, or the slice of everybody if charging `wanted` would exceed the limits on slices and
   * combinations.
   */
  chargeable(charged: SlicedAmounts, wanted: string): string {
    if (wanted === EVERYBODY || charged.has(wanted)) return wanted;
    return this.coversOf([...partsIn(charged), wanted]) === undefined ? EVERYBODY : wanted;
  }

  /**
   * Returns the largest total charge of any one person. The largest epsilon, delta, and rho may belong to different
   * people. If `within` is given, considers only the people in that slice.
   */
  worst(charged: SlicedAmounts, within: string = EVERYBODY): Units {
    const common = charged.get(EVERYBODY) ?? NOTHING;
    const texts = partsIn(charged);
    if (texts.length === 0) return common;
    if (within !== EVERYBODY && !charged.has(within)) texts.push(within);
    const only = texts.indexOf(within);
    // If there are too many slices or combinations, assume that one person is in all slices.
    const covers = this.coversOf(texts) ?? [texts.map((_, i) => i)];
    const amounts = texts.map((text) => charged.get(text) ?? NOTHING);
    return covers
      .filter((cover) => only < 0 || cover.includes(only))
      .map((cover) => cover.reduce((sum, i) => addUnits(sum, amounts[i]!), common))
      .reduce(largerUnits, common);
  }

  /**
   * Returns the maximal combinations of slices that have a person in common. A combination is maximal if it is not part
   * of a larger one. Each combination is returned as a list of indexes of `texts`. Returns undefined if there are too
   * many slices or combinations.
   */
  private coversOf(texts: readonly string[]): number[][] | undefined {
    if (texts.length > MAX_SLICES) return undefined;
    // Clear both caches together, because the keys of `covers` contain IDs from `parsed`.
    if (Math.max(this.parsed.size, this.covers.size) >= MAX_CACHED) {
      this.parsed.clear();
      this.covers.clear();
    }
    const slices = texts.map((text) => this.parse(text));
    const key = slices.map(({ id }) => id).join(' ');
    if (this.covers.has(key)) return this.covers.get(key);
    const covers = findCovers(slices.map(({ slice }) => slice));
    this.covers.set(key, covers);
    return covers;
  }

  private parse(text: string): { id: number; slice: Slice } {
    const known = this.parsed.get(text);
    if (known !== undefined) return known;
    const parsed = { id: this.parsed.size, slice: parseSlice(text) };
    this.parsed.set(text, parsed);
    return parsed;
  }
}

/** Returns the texts of the slices, except the slice of everybody. */
function partsIn(charged: SlicedAmounts): string[] {
  return [...charged.keys()].filter((text) => text !== EVERYBODY);
}

/**
 * Finds the maximal combinations of slices that one person can be in. Finds the combinations for each axis separately,
 * and then intersects them. This is correct because a person's position on one axis is independent of the positions on
 * the other axes.
 */
function findCovers(slices: readonly Slice[]): number[][] | undefined {
  const axes = new Set(slices.flatMap((slice) => Object.keys(slice)));
  let masks = new Set([(1n << BigInt(slices.length)) - 1n]);
  for (const axis of axes) {
    const along = maximal(masksAlong(axis, slices));
    if (along === undefined) return undefined;
    const combined = new Set<bigint>();
    for (const mask of masks) for (const other of along) combined.add(mask & other);
    const next = maximal(combined);
    if (next === undefined) return undefined;
    masks = next;
  }
  const covers = [...masks].map((mask) => slices.map((_, i) => i).filter((i) => (mask >> BigInt(i)) & 1n));
  return covers.reduce((sum, { length }) => sum + length, 0) > MAX_MEMBERS ? undefined : covers;
}

/**
 * Finds, for every position on an axis, the slices that include the position. Returns the different sets of slices, as
 * bit masks with one bit per slice.
 */
function masksAlong(axis: string, slices: readonly Slice[]): Set<bigint> {
  const changes: { at: bigint; bit: bigint }[] = [];
  let mask = 0n;
  for (const [i, slice] of slices.entries()) {
    const bit = 1n << BigInt(i);
    const intervals = slice[axis];
    if (intervals === undefined) mask |= bit;
    for (const { start, end } of intervals ?? []) changes.push({ at: start, bit }, { at: end + 1n, bit });
  }
  changes.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const masks = new Set([mask]);
  for (const [i, { at, bit }] of changes.entries()) {
    mask ^= bit;
    if (changes[i + 1]?.at !== at) masks.add(mask);
  }
  return masks;
}

/** Returns the masks that no other mask contains. Returns undefined if there are too many masks. */
function maximal(masks: ReadonlySet<bigint>): Set<bigint> | undefined {
  if (masks.size > 2 * MAX_COVERS) return undefined;
  const all = [...masks];
  const kept = all.filter((mask) => !all.some((other) => other !== mask && (mask & other) === mask));
  return kept.length > MAX_COVERS ? undefined : new Set(kept);
}
