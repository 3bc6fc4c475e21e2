/** Returns the UTC days that overlap the interval from `start` (inclusive) to `end` (exclusive). */
export function daysOf({ start, end }: { start: Date; end: Date }): string[] {
  const days: string[] = [];
  for (let day = Math.floor(start.getTime() / DAY_MS); day * DAY_MS < end.getTime(); day++) {
    days.push(new Date(day * DAY_MS).toISOString().slice(0, 10));
  }
  return days;
}
const DAY_MS = 86_400_000;
