/**
 * Decides which needs can be asked now. A need about an incomplete period must wait, because its answer would be reused
 * after the period ends.
 */
import type { PlannedNeed } from '@measurement-exchange/reports';
import type { World } from './surroundings.ts';

/** Returns the reason that a need cannot be asked yet, or undefined if it can. */
export function notDue(
  { need: { period, cells } }: PlannedNeed,
  { eventGroups }: World,
  now: number,
): string | undefined {
  if (Date.parse(period.end) > now) return `its period ends at ${period.end}`;
  for (const { eventGroup } of cells) {
    const end = eventGroups.get(eventGroup)?.dataAvailabilityInterval?.endTime;
    if (end === undefined || Date.parse(end) >= Date.parse(period.end)) continue;
    return `${eventGroup} has events until ${end}, and its period ends at ${period.end}`;
  }
  return undefined;
}
