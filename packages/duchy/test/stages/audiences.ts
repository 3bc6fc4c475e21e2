/** Whom three providers reached, and what is true of them together. */
import { INDEX, type People, people } from './uploads.ts';

/** 1–300 once; 201–400 twice, 1001–1050 once; 301–350 three times, and people that are not of the population. */
export const AUDIENCES: People[] = [
  people(1, 300),
  new Map([...people(201, 400, 2), ...people(1001, 1050)]),
  new Map([...people(301, 350, 3), ...people(700, 710)]),
];

/** How often everybody together reached each person of the population. */
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
