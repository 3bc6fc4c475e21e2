/** A measurement request, before and after validation. */
import type { PlainSpec, PrivacyParams, Protocol, Timestamp } from '@measurement-exchange/contract';

/** The types of measurements. */
export const REQUEST_TYPES = ['reach', 'reachAndFrequency', 'impression', 'duration', 'population'] as const;
export type RequestType = (typeof REQUEST_TYPES)[number];

/** A span of time that includes its start and excludes its end. Strings are RFC 3339. */
export interface RequestInterval {
  start: Date | string;
  end: Date | string;
}

/** Selects the events of one event group that are in the interval and match the filter. */
export interface RequestedEventGroup {
  /** The name `dataProviders/x/eventGroups/y`, or the name of the event group under the consumer. */
  name: string;
  interval: RequestInterval;
  /** A CEL expression over the attributes of an event; default: every event. */
  filter?: string;
}

/** The part of one data provider, `dataProviders/x`: event groups, or its population. */
export interface RequestedDataProvider {
  name: string;
  /** The event groups to count, for every type except population. */
  eventGroups?: readonly RequestedEventGroup[];
  /** The part of the population that is counted; default: all of it. */
  population?: { filter?: string; interval?: RequestInterval };
}

/** A measurement in plain parameters. */
export interface MeasurementRequest {
  type: RequestType;
  dataProviders: readonly RequestedDataProvider[];
  /** Required for every type except population, which is counted without noise. */
  privacy?: PrivacyParams;
  /** The privacy of the frequency distribution; default: the same as `privacy`, spent a second time. */
  frequencyPrivacy?: PrivacyParams;
  /** For reachAndFrequency: the last bucket counts people reached this often or more. Default 10. */
  maximumFrequency?: number;
  /** For impression: the number of impressions of one person that are counted at most. */
  maximumFrequencyPerUser?: number;
  /** For duration: the time of one person that is counted at most. */
  maximumWatchDurationSeconds?: number;
  /**
   * The part of the virtual people that is counted; default: everybody, `{ start: 0, width: 1 }`. If duchies compute the
   * reach of several providers, `start + width` may be above 1; the sample then continues at 0.
   */
  vidSampling?: { start: number; width: number };
  modelLine?: string;
  /**
   * The protocol to try first; default: the exchange chooses. If the protocol does not fit, the exchange chooses another
   * one: the `protocolConfig` of the measurement says which, and its timeline why.
   */
  protocol?: Protocol;
  /** A reference of the caller that is stored with the measurement. */
  referenceId?: string;
  /** Makes `Consumer.create` idempotent. */
  requestId?: string;
}

/** The content of a data provider's requisition spec. */
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
