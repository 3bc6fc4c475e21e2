import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { parseJsonBytes, readMessage, specs, toPlainJson } from '@measurement-exchange/contract';

/** A span of time that includes `start` and excludes `end`. */
export interface PlainInterval {
  start: Date;
  end: Date;
}

export interface PlainRequisitionSpec {
  nonce: bigint;
  /**
   * `typeUrl` is present only if the message contains the key as an Any. JSON and the older field
   * `serializedMeasurementPublicKey` contain only the bytes.
   */
  measurementPublicKey: { typeUrl?: string; value: Uint8Array };
  /** `interval` is absent if its start or end is missing or invalid, or if the start is not before the end. */
  events?: { eventGroup: string; interval?: PlainInterval; filter?: string }[];
  population?: { interval?: PlainInterval; filter?: string };
}

/**
 * Decodes protobuf binary, or UTF-8 JSON if the first byte is `{`. Throws an Error with the reason if decoding fails.
 */
export function decodeRequisitionSpec(bytes: Uint8Array): PlainRequisitionSpec {
  const message = bytes[0] === 0x7b ? fromJsonBytes(bytes) : readMessage(specs.RequisitionSpecSchema, bytes);
  // Earlier versions of the RequisitionSpec used these fields instead of `requisitionType.events` and
  // `measurementPublicKey`.
  const { eventGroups, serializedMeasurementPublicKey } = message;
  const key = message.measurementPublicKey ?? { value: serializedMeasurementPublicKey };
  const { case: selected, value } = message.requisitionType;
  const entries = selected === 'events' ? value.eventGroups : eventGroups;
  return {
    nonce: message.nonce,
    measurementPublicKey: {
      value: key.value,
      ...('typeUrl' in key && key.typeUrl && { typeUrl: key.typeUrl }),
    },
    ...(selected === 'population'
      ? { population: { ...intervalOf(value.interval), ...filterOf(value.filter) } }
      : { events: entries.map(eventGroupOf) }),
  };
}

/** Decodes JSON, in which `measurementPublicKey` is base64, as in a MeasurementSpec. */
function fromJsonBytes(bytes: Uint8Array): specs.RequisitionSpec {
  const { measurementPublicKey, ...rest } = toPlainJson(parseJsonBytes(bytes)) as Record<string, JsonValue>;
  return fromJson(specs.RequisitionSpecSchema, {
    ...rest,
    ...(measurementPublicKey !== undefined && { serializedMeasurementPublicKey: measurementPublicKey }),
  });
}

function eventGroupOf({ key, value }: specs.RequisitionSpec_EventGroupEntry) {
  return { eventGroup: key, ...intervalOf(value?.collectionInterval), ...filterOf(value?.filter) };
}

function filterOf(filter: specs.RequisitionSpec_EventFilter | undefined): { filter?: string } {
  return filter?.expression ? { filter: filter.expression } : {};
}

function intervalOf(interval: { startTime?: Timestamp; endTime?: Timestamp } | undefined): {
  interval?: PlainInterval;
} {
  const [start, end] = [dateOf(interval?.startTime), dateOf(interval?.endTime)];
  return start && end && start < end ? { interval: { start, end } } : {};
}

/** Returns undefined if the time is missing or outside the range of a protobuf Timestamp, the years 1 to 9999. */
function dateOf(time: Timestamp | undefined): Date | undefined {
  if (!time || time.seconds < -62_135_596_800n || time.seconds > 253_402_300_799n) return undefined;
  if (time.nanos < 0 || time.nanos > 999_999_999) return undefined;
  return new Date(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6));
}
