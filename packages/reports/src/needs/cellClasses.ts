/**
 * Finds the combinations of segments to which one event can belong. They determine which combinations of segments can
 * reach a person. For example, if one segment contains another, nobody is in the inner segment alone.
 */
import type { Segment } from '../definition/definition.ts';

/**
 * Returns the sets of segments that an event can belong to if it matches at most one filter. Each set is a bit mask. An
 * event that matches a filter also belongs to the segments that select its whole event group. An event that matches
 * several filters belongs to the union of the sets for these filters. The function does not return such unions.
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
