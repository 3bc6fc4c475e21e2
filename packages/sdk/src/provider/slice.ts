/**
 * Finds the slice of people to charge for a requisition. Only the events of these people can change the requisition's
 * result.
 */
import { sampledRegisters } from '@measurement-exchange/contract';
import { EVERYBODY, type Interval, type Slice, sliceText } from '@measurement-exchange/mpc/charges';
import { BUCKET_COUNT, bucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';
import type { SelectedPeople } from './events.ts';
import type { VerifiedRequisition } from './verify.ts';

/**
 * Returns a function that takes the indexes of some of the selected event groups, and returns the slice to charge for
 * these event groups.
 */
export function slicesOf(
  verified: VerifiedRequisition,
  people: SelectedPeople | undefined,
): (eventGroups: readonly number[]) => string {
  if (people === undefined) return () => EVERYBODY;
  const sample = sampleOf(verified, people);
  const known = new Map<string, string>();
  return (eventGroups) => {
    const key = eventGroups.join(' ');
    const slice = known.get(key) ?? sliceText({ ...sample, ...vidsOf(people, eventGroups) });
    known.set(key, slice);
    return slice;
  };
}

/**
 * Returns the slice of people whose events can match the filter of at least one of these event groups. Returns
 * everybody if one of the filters can match everybody's events.
 */
function vidsOf({ vids, vidSpace }: SelectedPeople, eventGroups: readonly number[]): Slice {
  const selected = eventGroups.map((i) => vids[i]);
  return selected.includes(undefined)
    ? {}
    : { [`vid ${vidSpace}`]: selected.flatMap((ranges) => ranges ?? []) };
}

/**
 * Returns the slice of people who are in the sample. Returns everybody if CEL evaluates a part of a filter, because CEL
 * then also reads events of people outside of the sample. For the share shuffle protocol, a person's position in the
 * population decides whether the person is in the sample. For other protocols, a hash of the VID decides.
 */
function sampleOf({ vidSampling, shareShuffle }: VerifiedRequisition, people: SelectedPeople): Slice {
  if (people.isEvaluated) return {};
  if (shareShuffle === undefined) {
    const { from, to, wrapTo } = bucketRange(vidSampling);
    return partOf(`bucket ${people.vidSpace}`, BUCKET_COUNT, [
      [from, to],
      [0, wrapTo],
    ]);
  }
  const { vidRanges, config } = shareShuffle;
  const size = vidRanges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
  const { first, primary, wrapped } = sampledRegisters(size, vidSampling);
  const population = Buffer.from(config.populationFingerprint).toString('hex');
  return partOf(`register ${people.vidSpace} ${population}`, size, [
    [first, first + primary],
    [0, wrapped],
  ]);
}

/**
 * Returns the slice of people whose hash bucket or register is in one of the ranges. Returns everybody if one range
 * covers all buckets or registers. A range includes its start and excludes its end.
 */
function partOf(axis: string, size: number, ranges: [start: number, end: number][]): Slice {
  const intervals = ranges
    .filter(([start, end]) => end > start)
    .map(([start, end]): Interval => ({ start: BigInt(start), end: BigInt(end) - 1n }));
  const isWhole = intervals.some(({ start, end }) => start === 0n && end === BigInt(size) - 1n);
  return isWhole ? {} : { [axis]: intervals };
}
