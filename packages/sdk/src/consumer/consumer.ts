import type { Measurement } from '@measurement-exchange/contract';
import { systemClock } from '../client/clock.ts';
import { createMeasurement } from './create.ts';
import type { ConsumerOptions } from './deps.ts';
import {
  type DescribedEventGroup,
  type EventGroupFilters,
  listEventGroups,
  readEventGroup,
} from './eventGroups.ts';
import { type MeasurementResult, openMeasurement } from './open.ts';
import { readRequest } from './readRequest.ts';
import type { MeasurementRequest } from './request.ts';
import { type WaitOptions, waitForMeasurement } from './wait.ts';

/** Options of every call. Aborting the signal ends the call, but not what it started at the exchange. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** Options of `open`. */
export interface OpenOptions extends CallOptions {
  /** The request that the measurement was created from: then only a measurement of that very request is opened. */
  request?: MeasurementRequest;
}

/** Creates measurements and reads their results as a measurement consumer. */
export interface Consumer {
  /**
   * Signs the request, encrypts each data provider's part for it, and creates the measurement. Every data
   * provider's key is verified first; `DataProviderUntrusted` names one that is not trusted, and nothing is
   * created. Each measurement has a result key of its own, which follows from the consumer's private encryption key:
   * there is nothing to keep. The exchange chooses who computes it; `ProtocolRejected` where that is not one of the
   * duchies that the consumer accepts.
   *
   * With a `requestId` it is idempotent, also after a crash: the measurement that was created from the same request
   * with the same ID is returned. Where the request differs in anything, event groups and filters included, the
   * `ExchangeError` REQUEST_ID_REUSED names the measurement in `metadata.existing`.
   */
  create(request: MeasurementRequest, options?: CallOptions): Promise<Measurement>;
  /** Waits until the measurement succeeds; throws `MeasurementFailed` when it fails or is cancelled. */
  wait(name: string, options?: WaitOptions): Promise<Measurement>;
  /**
   * Decrypts and verifies every result, and estimates the error of each figure. Throws `ResultRejected` unless this
   * consumer signed the spec, its nonces are exactly those of the data providers, and each of these signed exactly one
   * result of the requested type, encrypted for this measurement alone; or, where duchies compute it, their aggregator
   * signed exactly one, and all of them are duchies that the consumer accepts. The exchange gives measurements their
   * names, and could show one measurement of this consumer under the name of another: pass the `request` to exclude that.
   */
  open(measurement: Measurement, options?: OpenOptions): Promise<MeasurementResult>;
  /** `create`, `wait` and `open`. */
  measure(request: MeasurementRequest, options?: WaitOptions): Promise<MeasurementResult>;
  /** Reads an event group by its name under the consumer; throws `MetadataUnreadable` if its metadata is not readable. */
  readEventGroup(name: string, options?: CallOptions): Promise<DescribedEventGroup>;
  /** Lists the event groups of the consumer. An entry whose metadata cannot be read has an `error`. */
  listEventGroups(filters?: EventGroupFilters): AsyncIterable<DescribedEventGroup>;
}

/**
 * A measurement consumer on an exchange.
 *
 * @example
 * const consumer = createConsumer({ client, credentials, trust });
 * const result = await consumer.measure({
 *   type: 'reach',
 *   dataProviders: [{ name: 'dataProviders/streamly', eventGroups: [{ name, interval: { start, end } }] }],
 *   privacy: { epsilon: 0.5, delta: 1e-9 },
 * });
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const deps = { ...options, clock: options.clock ?? systemClock };
  const consumer: Consumer = {
    create: (request, { signal } = {}) => createMeasurement({ ...deps, signal }, request),
    wait: (name, waiting) => waitForMeasurement(deps.client, name, waiting, deps.clock),
    open: async (measurement, { request, signal } = {}) =>
      openMeasurement({ ...deps, signal }, measurement, request && readRequest(request)),
    async measure(request, waiting = {}) {
      const created = await consumer.create(request, waiting);
      const done = await consumer.wait(created.name!, waiting);
      return consumer.open(asCreated(done, created), waiting);
    },
    readEventGroup: (name, { signal } = {}) => readEventGroup({ ...deps, signal }, name),
    listEventGroups: (filters) => listEventGroups({ ...deps, signal: filters?.signal }, filters),
  };
  return consumer;
}

/**
 * The request and the protocol are known from the creation of the measurement: only the results are taken from the
 * exchange.
 */
export function asCreated(done: Measurement, { measurementSpec, protocolConfig }: Measurement): Measurement {
  return { ...done, ...(measurementSpec && { measurementSpec }), ...(protocolConfig && { protocolConfig }) };
}
