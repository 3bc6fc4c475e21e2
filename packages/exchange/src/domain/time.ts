import { type Timestamp, timestampOf } from '@measurement-exchange/contract';

/**
 * The time of a change that follows `previous`: now, or one microsecond later than `previous` when the clock
 * stands still or steps back. A reader that pages by update time would otherwise never see the change.
 */
export function strictlyAfter(now: Timestamp, previous: Timestamp): Timestamp {
  if (now > previous) return now;
  const micros = Number(previous.slice(20, 26));
  if (micros < 999_999) return `${previous.slice(0, 20)}${String(micros + 1).padStart(6, '0')}Z`;
  return timestampOf(Date.parse(`${previous.slice(0, 19)}Z`) + 1000);
}

/** The fields of a record that every change sets. */
export function nextVersion(before: { version: number; updateTime: Timestamp }, now: Timestamp) {
  return { version: before.version + 1, updateTime: strictlyAfter(now, before.updateTime) };
}

/** Not before 1970, however long ago: the database would not understand it. */
export function hoursBefore(now: Timestamp, hours: number): Timestamp {
  return timestampOf(Math.max(0, Date.parse(now) - hours * 3600_000));
}

const HALF_MINUTE_MS = 30_000;

/** The half minute that a time is in. */
export function halfMinuteOf(time: Timestamp): Timestamp {
  return timestampOf(Math.floor(Date.parse(time) / HALF_MINUTE_MS) * HALF_MINUTE_MS);
}
