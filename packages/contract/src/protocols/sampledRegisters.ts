/**
 * Computes which people of a population are in a sample. All providers number the people from 0 in the same order,
 * which depends on hashes of the people's VIDs (virtual person IDs). These numbers are called indexes. A sample is an
 * interval of indexes, which may wrap around from the last index to 0.
 */
import type { PlainSpec } from '../specs/measurementSpec.ts';

type Interval = NonNullable<PlainSpec['vidSamplingInterval']>;

/**
 * The registers of a sample, one per index. The first registers belong to the indexes from `first` upward. If the
 * sample wraps around, the next registers belong to the indexes from 0 upward.
 */
export interface SampledRegisters {
  first: number;
  /** The number of indexes in the part of the sample that starts at `first`. */
  primary: number;
  /** The number of indexes in the part of the sample that starts at 0. It is 0 if the sample does not wrap around. */
  wrapped: number;
  /** The number of registers in the sample, which is the length of a provider's frequency vector. */
  count: number;
}

/**
 * Computes the registers of a sampling interval. All parties must get the same registers, so this function uses 32-bit
 * floats, like the public reference system. In a population above 2^24 VIDs, rounding can shift each end of the
 * interval by a few indexes.
 */
export function sampledRegisters(size: number, { start, width }: Interval): SampledRegisters {
  if (!(start >= 0 && start <= 1)) {
    throw new RangeError('vidSamplingInterval.start must be at least 0 and at most 1');
  }
  if (!(width > 0 && width <= 1)) {
    throw new RangeError('vidSamplingInterval.width must be above 0 and at most 1');
  }
  const bound = (part: number) => Math.trunc(Math.fround(Math.fround(size) * part));
  const first = bound(Math.fround(start));
  const end = bound(Math.fround(Math.fround(start) + Math.fround(width)));
  const primary = Math.max(0, Math.min(end, size) - first);
  const wrapped = Math.max(0, end - size);
  return { first, primary, wrapped, count: primary + wrapped };
}

/** Returns the register for an index, or −1 if the index is not in the sample. */
export function registerOf({ first, primary, wrapped }: SampledRegisters, index: number): number {
  const register = index - first;
  if (register >= 0 && register < primary) return register;
  return index < wrapped ? primary + index : -1;
}
