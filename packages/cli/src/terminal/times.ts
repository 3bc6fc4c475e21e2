/** Parses times that users type, and formats times for people. */
import { parseTimestamp, type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { InvalidArgumentError } from 'commander';

const UNITS: Record<string, number> = { m: 60_000, h: 3600_000, d: 86_400_000 };

/** Parses a time that a user typed: in RFC 3339, as a day (midnight UTC), or as an age such as 30m, 12h, or 7d. */
export function parseTime(text: string): Timestamp {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (unit !== undefined) return timestampOf(Date.now() - Number(count) * UNITS[unit]!);
  const day = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = parseTimestamp(day ? `${text}T00:00:00Z` : text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'It must be a day such as 2026-01-31, a time such as 2026-01-31T18:00:00Z, or how long ago, such as 30m, 12h or 7d.',
  );
}

export function shortTime(time: Timestamp | undefined): string | undefined {
  return time === undefined ? undefined : `${time.slice(0, 10)} ${time.slice(11, 19)}`;
}

export function timeFacts({ createTime, updateTime }: { createTime?: Timestamp; updateTime?: Timestamp }) {
  return { created: `${shortTime(createTime)} UTC`, updated: `${shortTime(updateTime)} UTC` };
}

/** Formats an interval. Times at midnight are shown as dates: `2026-01-01 to 2026-02-01`. */
export function shortInterval(
  interval: { startTime: Timestamp; endTime?: Timestamp } | undefined,
): string | undefined {
  if (interval === undefined) return undefined;
  const { startTime, endTime } = interval;
  return endTime === undefined ? `since ${moment(startTime)}` : `${moment(startTime)} to ${moment(endTime)}`;
}

function moment(time: Timestamp): string {
  return time.slice(11, 19) === '00:00:00' ? time.slice(0, 10) : shortTime(time)!;
}
