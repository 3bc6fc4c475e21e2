/** Which indexes of a population are in a sample: an interval of the order of its VIDs, which may wrap around its end. */
import type { PlainSpec } from '../specs/measurementSpec.ts';

type Interval = NonNullable<PlainSpec['vidSamplingInterval']>;

/** A sample has a register for each of its indexes: those from `first` on, then those from 0 on. */
export interface SampledRegisters {
  first: number;
  /** How many indexes from `first` on. */
  primary: number;
  /** How many indexes from 0 on. */
  wrapped: number;
  /** Length of the frequency vector. */
  count: number;
}

/**
 * The registers of an interval. Everybody must get the same ones, so this mirrors the public reference system, which computes
 * in 32-bit floats: above 2^24 VIDs a bound may be a few indexes off.
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

/** The register of an index, −1 for one that is not in the sample. */
export function registerOf({ first, primary, wrapped }: SampledRegisters, index: number): number {
  const register = index - first;
  if (register >= 0 && register < primary) return register;
  return index < wrapped ? primary + index : -1;
}
