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

/** Options of every call. Aborting the signal ends the call, but does not undo its effects at the exchange. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** Options of `open`. */
export interface OpenOptions extends CallOptions {
  /** The request from which the measurement was created; a measurement of any other request is then rejected. */
  request?: MeasurementRequest;
}

/** Creates measurements and reads their results as a measurement consumer. */
export interface Consumer {
  /**
   * Signs the request, encrypts each data provider's part, and creates the measurement. Every data provider's key is
   * verified first; `DataProviderUntrusted` reports one that is not trusted, and nothing is created. Each measurement has
   * a separate result key that is derived from the consumer's private encryption key, so nothing needs to be stored. The
   * exchange chooses the parties that compute it; throws `ProtocolRejected` if the consumer does not accept these duchies.
   *
   * With a `requestId` the call is idempotent, even after a crash: it returns the measurement that was created from the
   * same request with the same ID. If the request differs in anything, event groups and filters included, the
   * `ExchangeError` REQUEST_ID_REUSED has the name of the measurement in `metadata.existing`.
   */
  create(request: MeasurementRequest, options?: CallOptions): Promise<Measurement>;
  /** Waits until the measurement succeeds; throws `MeasurementFailed` when it fails or is cancelled. */
  wait(name: string, options?: WaitOptions): Promise<Measurement>;
  /**
   * Decrypts and verifies every result, and estimates the error of each figure. Throws `ResultRejected` unless this
   * consumer signed the spec, its nonces are exactly those of the data providers, and each data provider signed exactly
   * one result of the requested type, encrypted for this measurement alone. If duchies compute the measurement, their
   * aggregator must have signed exactly one result, and the consumer must accept all of the duchies. The exchange could
   * return another measurement of this consumer under this name: pass the `request` to exclude that.
   */
  open(measurement: Measurement, options?: OpenOptions): Promise<MeasurementResult>;
  /** Calls `create`, `wait` and `open`. */
  measure(request: MeasurementRequest, options?: WaitOptions): Promise<MeasurementResult>;
  /** Reads an event group by its name under the consumer; throws `MetadataUnreadable` if its metadata cannot be read. */
  readEventGroup(name: string, options?: CallOptions): Promise<DescribedEventGroup>;
  /** Lists the event groups of the consumer. An entry whose metadata cannot be read has an `error`. */
  listEventGroups(filters?: EventGroupFilters): AsyncIterable<DescribedEventGroup>;
}

/**
 * Creates a measurement consumer on an exchange.
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

/** Replaces the spec and the protocol with those from the creation, so that only the results are taken from the exchange. */
export function asCreated(done: Measurement, { measurementSpec, protocolConfig }: Measurement): Measurement {
  return { ...done, ...(measurementSpec && { measurementSpec }), ...(protocolConfig && { protocolConfig }) };
}
