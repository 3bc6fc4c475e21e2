/** Measurement requests, before and after validation. */
import type { PlainSpec, PrivacyParams, Protocol, Timestamp } from '@measurement-exchange/contract';

/** The types of measurements. */
export const REQUEST_TYPES = ['reach', 'reachAndFrequency', 'impression', 'duration', 'population'] as const;
export type RequestType = (typeof REQUEST_TYPES)[number];

/** A span of time that includes its start and excludes its end. Strings are RFC 3339. */
export interface RequestInterval {
  start: Date | string;
  end: Date | string;
}

/** Selects the events in one event group that are within the interval and match the filter. */
export interface RequestedEventGroup {
  /** The name `dataProviders/x/eventGroups/y`, or the event group's name under the consumer. */
  name: string;
  interval: RequestInterval;
  /** A CEL expression over an event's attributes; default: every event. */
  filter?: string;
}

/** The subject to count at one data provider, `dataProviders/x`: event groups, or its population. */
export interface RequestedDataProvider {
  name: string;
  /** The event groups to count, for every type except population. */
  eventGroups?: readonly RequestedEventGroup[];
  /** The part of the population to count; default: all of it. */
  population?: { filter?: string; interval?: RequestInterval };
}

/** Describes a measurement with plain parameters. */
export interface MeasurementRequest {
  type: RequestType;
  dataProviders: readonly RequestedDataProvider[];
  /** Required for every type except population, which is counted without noise. */
  privacy?: PrivacyParams;
  /** The privacy parameters for the frequency distribution. By default, the amount in `privacy` is spent a second time. */
  frequencyPrivacy?: PrivacyParams;
  /** For reachAndFrequency: the last bucket counts people reached this many times or more; 10 by default. */
  maximumFrequency?: number;
  /** For impression: the maximum number of impressions that are counted per person. */
  maximumFrequencyPerUser?: number;
  /** For duration: the maximum time that is counted per person. */
  maximumWatchDurationSeconds?: number;
  /**
   * The part of the virtual people to count; default: everyone, `{ start: 0, width: 1 }`. If duchies compute the reach of
   * several providers, `start + width` may exceed 1, and the sample then wraps around to 0.
   */
  vidSampling?: { start: number; width: number };
  modelLine?: string;
  /**
   * The protocol to try first; by default, the exchange chooses. If this protocol does not fit, the exchange chooses
   * another one. The measurement's `protocolConfig` then says which one, and its timeline says why.
   */
  protocol?: Protocol;
  /** The caller's own reference, which is stored with the measurement. */
  referenceId?: string;
  /** Makes `Consumer.create` idempotent. */
  requestId?: string;
}

/** The contents of a data provider's requisition spec. */
export type Selection =
  | { eventGroups: { name: string; interval: Interval; filter: string | undefined }[] }
  | { population: { filter: string | undefined; interval: Interval | undefined } };

/** A validated `RequestInterval`; both ends are strings in UTC. */
export interface Interval {
  start: Timestamp;
  end: Timestamp;
}

/** A valid request, with defaults filled in. */
export interface ReadRequest {
  /** The spec without keys and nonces. */
  spec: PlainSpec;
  dataProviders: { name: string; selection: Selection }[];
  protocol: Protocol | undefined;
  referenceId: string | undefined;
  requestId: string | undefined;
}
