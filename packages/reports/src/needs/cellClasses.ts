/**
 * Finds which segments contain the same events. This shows which combinations of segments cannot occur, for example because
 * one segment contains another.
 */
import type { Segment } from '../definition/definition.ts';

/**
 * Returns a bit mask of segments for each kind of event. Events that match a filter also belong to segments that select
 * the whole event group. The list omits events that match several filters, because their masks are unions of
 * listed masks.
 */
export function cellClasses(segments: readonly Segment[]): number[] {
  const whole = new Map<string, number>();
  const filtered = new Map<string, number>();
  for (const [i, { eventGroups, filter }] of segments.entries()) {
    for (const eventGroup of eventGroups) {
      const [of, key] = filter === undefined ? [whole, eventGroup] : [filtered, `${eventGroup} ${filter}`];
      of.set(key, (of.get(key) ?? 0) | (1 << i));
    }
  }
  const classes = [...filtered].map(([key, mask]) => mask | (whole.get(key.slice(0, key.indexOf(' '))) ?? 0));
  return [...new Set([...whole.values(), ...classes])];
}
