/** Translates time intervals between protobuf messages and the resources of the exchange. */
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Interval, NativeObject } from '@measurement-exchange/contract';
import { fromTimestamp, toTimestamp } from './values.ts';

interface ProtoInterval {
  startTime?: Timestamp | undefined;
  endTime?: Timestamp | undefined;
}

export function fromInterval(interval: ProtoInterval | undefined): NativeObject | undefined {
  if (interval === undefined) return undefined;
  return { startTime: fromTimestamp(interval.startTime), endTime: fromTimestamp(interval.endTime) };
}

/** Translates an interval. If `endTime` is undefined, the result has no end either. */
export function toInterval(interval: Interval | undefined): ProtoInterval | undefined {
  if (interval === undefined) return undefined;
  return { startTime: toTimestamp(interval.startTime), endTime: toTimestamp(interval.endTime) };
}
