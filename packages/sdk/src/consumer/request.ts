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
  /** The resource name, `dataProviders/x/eventGroups/y` or `measurementConsumers/x/eventGroups/y`. */
  name: string;
  interval: RequestInterval;
  /** A CEL expression over an event's attributes. By default, every event matches. */
  filter?: string;
}

/** Selects what one data provider counts: events in event groups, or people in its population. */
export interface RequestedDataProvider {
  name: string;
  /** The event groups to count, for every type except population. */
  eventGroups?: readonly RequestedEventGroup[];
  /** For population: the part of the population to count. By default, everyone is counted. */
  population?: { filter?: string; interval?: RequestInterval };
}

/** Describes the measurement to create. */
export interface MeasurementRequest {
  type: RequestType;
  /**
   * A title for people to read, at most 200 characters. Only this consumer can read it again, with `Consumer.question`.
   */
  title?: string;
  dataProviders: readonly RequestedDataProvider[];
  /** Required for every type except population, which is counted without noise. */
  privacy?: PrivacyParams;
  /**
   * The privacy parameters for the frequency distribution, which are spent in addition to `privacy`. Default: the same
   * as `privacy`.
   */
  frequencyPrivacy?: PrivacyParams;
  /**
   * For reachAndFrequency: the highest frequency in the distribution, 10 by default. People who were reached more often
   * are counted at this frequency.
   */
  maximumFrequency?: number;
  /** For impression: the maximum number of impressions that are counted per person. */
  maximumFrequencyPerUser?: number;
  /** For duration: the maximum time that is counted per person. */
  maximumWatchDurationSeconds?: number;
  /**
   * The sample of virtual people to count. By default, everyone is counted: `{ start: 0, width: 1 }`. If
   * HonestMajorityShareShuffle computes the measurement, `start + width` is allowed to exceed 1. The sample then wraps
   * around to 0.
   */
  vidSampling?: { start: number; width: number };
  modelLine?: string;
  /**
   * The protocol to use. If it is not set or cannot compute the request, the exchange chooses a protocol. The
   * measurement's `protocolConfig` contains the chosen protocol, and the measurement's timeline explains the choice.
   */
  protocol?: Protocol;
  /** The caller's own reference, which is stored with the measurement. */
  referenceId?: string;
  /** An ID that makes `Consumer.create` idempotent. */
  requestId?: string;
}

/**
 * The request from which a measurement was created, as stored for the consumer. Times are RFC 3339 strings. The name of
 * an event group is always `dataProviders/x/eventGroups/y`.
 */
export type Question = Omit<MeasurementRequest, 'requestId'>;

/** The events or people that one data provider counts, as written in its requisition spec. */
export type Selection =
  | { eventGroups: { name: string; interval: Interval; filter: string | undefined }[] }
  | { population: { filter: string | undefined; interval: Interval | undefined } };

/** A validated `RequestInterval`; both ends are strings in UTC. */
export interface Interval {
  start: Timestamp;
  end: Timestamp;
}

/** A validated request, with defaults filled in. */
export interface ReadRequest {
  /** The MeasurementSpec without the nonce hashes and the public key for encrypting results. */
  spec: PlainSpec;
  dataProviders: { name: string; selection: Selection }[];
  title: string | undefined;
  protocol: Protocol | undefined;
  referenceId: string | undefined;
  requestId: string | undefined;
}
