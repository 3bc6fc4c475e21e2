/** The audiences of three providers, and the true figures of all three together. */
import { INDEX, type People, people } from './uploads.ts';

/**
 * The first provider reached VIDs 1–300 once. The second reached VIDs 201–400 twice and 1001–1050 once. The third
 * reached VIDs 301–350 three times, and VIDs 700–710, which are not in the population, once.
 */
export const AUDIENCES: People[] = [
  people(1, 300),
  new Map([...people(201, 400, 2), ...people(1001, 1050)]),
  new Map([...people(301, 350, 3), ...people(700, 710)]),
];

/**
 * Returns how often all providers together reached each sampled person of the population. Each provider counts at most
 * `cap` times per person. People whom no provider reached are omitted.
 */
export function truth(cap: number, isSampled: (vid: number) => boolean = () => true): Map<number, number> {
  const total = new Map<number, number>();
  for (const audience of AUDIENCES) {
    for (const [vid, times] of audience) {
      if (INDEX.of(vid) < 0 || !isSampled(vid)) continue;
      total.set(vid, (total.get(vid) ?? 0) + Math.min(times, cap));
    }
  }
  return total;
}

export function distribution(total: Map<number, number>, maximumFrequency: number): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const times of total.values()) {
    const bucket = Math.min(times, maximumFrequency);
    shares[bucket] = (shares[bucket] ?? 0) + 1 / total.size;
  }
  return shares;
}
