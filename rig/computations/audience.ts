/** The people that each provider reached, with frequencies, and the true figures of all providers together. */
import type { Random } from '../random.ts';

/** The population has the VIDs from 1 to this number. */
export const PEOPLE = 3_000;
export const DAY = '2026-07-01';
export const INTERVAL = { start: `${DAY}T00:00:00Z`, end: '2026-07-02T00:00:00Z' };
export const REFERENCE = 'rig';
export const MAXIMUM_FREQUENCY = 5;

/** How often a provider reached each VID. */
export type Audience = Map<number, number>;

/** Draws a part of the population, with a frequency for each person. The parts of two providers usually overlap. */
export function drawAudience(random: Random): Audience {
  const [first, size] = [1 + random.int(PEOPLE / 3), 500 + random.int(PEOPLE / 3)];
  return new Map(Array.from({ length: size }, (_, i) => [first + i, 1 + random.int(4)]));
}

/** Formats the events as a CSV file, as a provider stores them. */
export function eventsCsv(audience: Audience): string {
  const rows = [...audience].flatMap(([vid, times]) =>
    Array.from({ length: times }, () => `${vid},${DAY}T12:00:00Z,${REFERENCE}`),
  );
  return `vid,timestamp,event_group\n${rows.join('\n')}\n`;
}

export interface Truth {
  reach: number;
  /** The fraction of the reached people with frequency 1, 2, … The last entry includes higher frequencies. */
  shares: number[];
}

/**
 * Returns the true figures of all providers together. A person that several providers reached counts once, with the sum
 * of the frequencies.
 */
export function truthOf(audiences: Audience[]): Truth {
  const total = new Map<number, number>();
  for (const audience of audiences) {
    for (const [vid, times] of audience) total.set(vid, (total.get(vid) ?? 0) + times);
  }
  const counts = new Array<number>(MAXIMUM_FREQUENCY).fill(0);
  for (const times of total.values()) counts[Math.min(times, MAXIMUM_FREQUENCY) - 1]!++;
  return { reach: total.size, shares: counts.map((count) => count / total.size) };
}
