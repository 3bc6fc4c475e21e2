/** The people that each provider reached and how often, and the true figures of all providers together. */
import type { Random } from '../random.ts';

/** VIDs 1 to this many. */
export const PEOPLE = 3_000;
export const DAY = '2026-07-01';
export const INTERVAL = { start: `${DAY}T00:00:00Z`, end: '2026-07-02T00:00:00Z' };
export const REFERENCE = 'rig';
export const MAXIMUM_FREQUENCY = 5;

/** How often a provider reached each VID. */
export type Audience = Map<number, number>;

/** A part of the population that overlaps with those of the others. */
export function drawAudience(random: Random): Audience {
  const [first, size] = [1 + random.int(PEOPLE / 3), 500 + random.int(PEOPLE / 3)];
  return new Map(Array.from({ length: size }, (_, i) => [first + i, 1 + random.int(4)]));
}

/** As the provider has it on its disk. */
export function eventsCsv(audience: Audience): string {
  const rows = [...audience].flatMap(([vid, times]) =>
    Array.from({ length: times }, () => `${vid},${DAY}T12:00:00Z,${REFERENCE}`),
  );
  return `vid,timestamp,event_group\n${rows.join('\n')}\n`;
}

export interface Truth {
  reach: number;
  /** The part of them that was reached 1, 2, … times; the last one this often or more. */
  shares: number[];
}

/** Everybody counted once. */
export function truthOf(audiences: Audience[]): Truth {
  const total = new Map<number, number>();
  for (const audience of audiences) {
    for (const [vid, times] of audience) total.set(vid, (total.get(vid) ?? 0) + times);
  }
  const counts = new Array<number>(MAXIMUM_FREQUENCY).fill(0);
  for (const times of total.values()) counts[Math.min(times, MAXIMUM_FREQUENCY) - 1]!++;
  return { reach: total.size, shares: counts.map((count) => count / total.size) };
}
