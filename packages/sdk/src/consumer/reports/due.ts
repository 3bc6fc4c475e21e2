/**
 * Decides which needs can be measured now. A need must wait until its period has ended and its events are complete.
 * Otherwise, later reports would reuse an incomplete answer.
 */
import type { PlannedNeed } from '@measurement-exchange/reports';
import type { World } from './surroundings.ts';

/** Returns the reason that a need cannot be measured yet, or undefined if it can be measured now. */
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
