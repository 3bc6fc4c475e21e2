import { type Timestamp, timestampOf } from '@measurement-exchange/contract';

/**
 * Returns `now` if it is after `previous`, else one microsecond after `previous`. Update times must increase: a reader
 * that pages by update time would otherwise miss a change.
 */
export function strictlyAfter(now: Timestamp, previous: Timestamp): Timestamp {
  if (now > previous) return now;
  const micros = Number(previous.slice(20, 26));
  if (micros < 999_999) return `${previous.slice(0, 20)}${String(micros + 1).padStart(6, '0')}Z`;
  return timestampOf(Date.parse(`${previous.slice(0, 19)}Z`) + 1000);
}

export function nextVersion(before: { version: number; updateTime: Timestamp }, now: Timestamp) {
  return { version: before.version + 1, updateTime: strictlyAfter(now, before.updateTime) };
}

/**
 * Returns the time `hours` before `now`, or the start of 1970 if that is later. Without this limit, a large `hours`
 * could give a year before 0001, which the database cannot parse.
 */
export function hoursBefore(now: Timestamp, hours: number): Timestamp {
  return timestampOf(Math.max(0, Date.parse(now) - hours * 3600_000));
}

const HALF_MINUTE_MS = 30_000;

export function halfMinuteOf(time: Timestamp): Timestamp {
  return timestampOf(Math.floor(Date.parse(time) / HALF_MINUTE_MS) * HALF_MINUTE_MS);
}
