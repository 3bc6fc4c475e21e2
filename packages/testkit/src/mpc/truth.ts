/**
 * The true figures of a world, counted without encryption, with big integers and sets instead of the product's
 * arithmetic.
 */
import { byVidHash } from '../vidHash.ts';
import { vidsOf, type World } from './world.ts';

/** The VIDs that are in the sample. */
export function sampleOf({ ranges, interval }: World): Set<number> {
  const f = Math.fround;
  const order = byVidHash(vidsOf(ranges));
  const size = order.length;
  const first = Math.trunc(f(f(size) * f(interval.start)));
  const last = Math.trunc(f(f(size) * f(f(interval.start) + f(interval.width)))) - 1;
  const isSampled = (index: number) =>
    (index >= first && index <= Math.min(last, size - 1)) || (last >= size && index <= last - size);
  return new Set(order.filter((_, index) => isSampled(index)));
}

/**
 * The total frequency of each person in the sample over all providers, by VID. Each provider counts a person at most
 * `cap` times.
 */
export function frequenciesOf(world: World, cap: number): Map<number, number> {
  const sample = sampleOf(world);
  const people = new Map<number, number>();
  for (const events of world.events) {
    for (const [vid, times] of events) {
      if (sample.has(vid) && times > 0) people.set(vid, (people.get(vid) ?? 0) + Math.min(times, cap));
    }
  }
  return people;
}

export function truth(world: World): { reach: number; relativeFrequencyDistribution?: Map<number, number> } {
  const cap = world.spec.measurementType === 'REACH' ? 1 : world.spec.maximumFrequency;
  const people = frequenciesOf(world, cap);
  const reach = Math.trunc(people.size / Math.fround(world.interval.width));
  if (world.spec.measurementType === 'REACH') return { reach };
  const counts = new Map<number, number>();
  for (const frequency of [...people.values()].sort((a, b) => a - b)) {
    const shown = Math.min(frequency, cap);
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  const shares = [...counts].map(([frequency, count]) => [frequency, count / people.size] as const);
  return { reach, relativeFrequencyDistribution: new Map(shares) };
}
