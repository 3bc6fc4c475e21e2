/** A measurement request as the caller writes it, and as it is after validation. */
import type { PlainSpec, PrivacyParams, Protocol, Timestamp } from '@measurement-exchange/contract';

/** The types of measurements. */
export const REQUEST_TYPES = ['reach', 'reachAndFrequency', 'impression', 'duration', 'population'] as const;
/** One of `REQUEST_TYPES`. */
export type RequestType = (typeof REQUEST_TYPES)[number];

/** A span of time, its start included and its end not. Texts are RFC 3339. */
export interface RequestInterval {
  start: Date | string;
  end: Date | string;
}

/** The events of one event group to count: those in the interval that pass the filter. */
export interface RequestedEventGroup {
  /** `dataProviders/x/eventGroups/y`, or the name under which the consumer itself reads it. */
  name: string;
  interval: RequestInterval;
  /** A CEL expression over the attributes of an event; absent: every event. */
  filter?: string;
}

/** The part of one data provider, `dataProviders/x`: event groups, or its population. */
export interface RequestedDataProvider {
  name: string;
  /** The event groups to count; for every type but population. */
  eventGroups?: readonly RequestedEventGroup[];
  /** Which part of the population is counted; absent: all of it. */
  population?: { filter?: string; interval?: RequestInterval };
}

/** A measurement in plain parameters. */
export interface MeasurementRequest {
  type: RequestType;
  dataProviders: readonly RequestedDataProvider[];
  /** For every type but population, which is counted without noise. */
  privacy?: PrivacyParams;
  /** For the frequency distribution; default: the same as `privacy`, spent a second time. */
  frequencyPrivacy?: PrivacyParams;
  /** For reachAndFrequency: the last bucket, "this often or more". Default 10. */
  maximumFrequency?: number;
  /** For impression: the most impressions of one person that count. */
  maximumFrequencyPerUser?: number;
  /** For duration: the most time of one person that counts. */
  maximumWatchDurationSeconds?: number;
  /**
   * The part of the virtual people that is counted; default: everybody, `{ start: 0, width: 1 }`. `start + width` may be
   * above 1, and the sample continues at 0, for a reach of several providers that duchies compute.
   */
  vidSampling?: { start: number; width: number };
  modelLine?: string;
  /**
   * The protocol to try first. Where it does not fit, the exchange chooses another one: the
   * `protocolConfig` of the measurement says which, and its timeline why. Absent: the exchange chooses.
   */
  protocol?: Protocol;
  /** The caller's own reference, stored with the measurement. */
  referenceId?: string;
  /** Makes `create` idempotent; see there. */
  requestId?: string;
}

/** The content of a data provider's requisition spec. */
export type Selection =
  | { eventGroups: { name: string; interval: Interval; filter: string | undefined }[] }
  | { population: { filter: string | undefined; interval: Interval | undefined } };

/** A validated `RequestInterval`: both ends as text, in UTC. */
export interface Interval {
  start: Timestamp;
  end: Timestamp;
}

/** A valid request, with defaults filled in. */
export interface ReadRequest {
  /** Without keys and nonces. */
  spec: PlainSpec;
  dataProviders: { name: string; selection: Selection }[];
  protocol: Protocol | undefined;
  referenceId: string | undefined;
  requestId: string | undefined;
}
