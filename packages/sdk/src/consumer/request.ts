/** A measurement in plain parameters: what a caller writes, and what is left to do once it was read. */
import type { PlainSpec, PrivacyParams, Timestamp } from '@measurement-exchange/contract';

/** What can be measured. */
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

/** What is asked of one data provider, `dataProviders/x`: its event groups, or its population. */
export interface RequestedDataProvider {
  name: string;
  /** Whose events are counted; of every type but a population. */
  eventGroups?: readonly RequestedEventGroup[];
  /** Which part of the population is counted; absent: all of it. */
  population?: { filter?: string; interval?: RequestInterval };
}

/** A measurement in plain parameters. */
export interface MeasurementRequest {
  type: RequestType;
  dataProviders: readonly RequestedDataProvider[];
  /** Of every type but a population, which is counted without noise. */
  privacy?: PrivacyParams;
  /** Of the frequency distribution; default: as `privacy`, spent a second time. */
  frequencyPrivacy?: PrivacyParams;
  /** Of a reachAndFrequency: the last bucket, "this often or more". Default 10. */
  maximumFrequency?: number;
  /** Of an impression: how many impressions of one person count at most. */
  maximumFrequencyPerUser?: number;
  /** Of a duration: how much time of one person counts at most. */
  maximumWatchDurationSeconds?: number;
  /** The part of the virtual people that is counted; default: everybody, `{ start: 0, width: 1 }`. */
  vidSampling?: { start: number; width: number };
  modelLine?: string;
  /** The caller's own reference, kept with the measurement. */
  referenceId?: string;
  /** Makes `create` repeatable; see there. */
  requestId?: string;
}

/** What is asked of one data provider once the request was read: what its requisition spec will say. */
export type Selection =
  | { eventGroups: { name: string; interval: Interval; filter: string | undefined }[] }
  | { population: { filter: string | undefined; interval: Interval | undefined } };

/** A `RequestInterval` once it was read: both ends as text, in UTC. */
export interface Interval {
  start: Timestamp;
  end: Timestamp;
}

/** A request without fault, its defaults filled in. */
export interface ReadRequest {
  /** Still without keys and nonces. */
  spec: PlainSpec;
  dataProviders: { name: string; selection: Selection }[];
  referenceId: string | undefined;
  requestId: string | undefined;
}
