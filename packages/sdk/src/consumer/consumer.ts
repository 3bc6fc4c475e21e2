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
import type { MeasurementRequest } from './request.ts';
import { type WaitOptions, waitForMeasurement } from './wait.ts';

/** Options of every call. Aborting the signal ends the call, but not what it started at the exchange. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** Creates measurements and reads their results as a measurement consumer. */
export interface Consumer {
  /**
   * Signs the request, encrypts each data provider's part for it, and creates the measurement. Every data
   * provider's key is verified first; `DataProviderUntrusted` names one that is not trusted, and nothing is
   * created.
   *
   * With a `requestId` it is idempotent, also after a crash: the measurement that was created with the ID is
   * returned when its type, parameters, data providers and reference are the same. Event groups, intervals and
   * filters cannot be compared, since only the data providers can read them: use a new ID for a new request. Where
   * the rest differs, the `ExchangeError` REQUEST_ID_REUSED names the measurement in `metadata.existing`.
   */
  create(request: MeasurementRequest, options?: CallOptions): Promise<Measurement>;
  /** Waits until the measurement succeeds; throws `MeasurementFailed` when it fails or is cancelled. */
  wait(name: string, options?: WaitOptions): Promise<Measurement>;
  /**
   * Decrypts and verifies every result, and estimates the error of each figure. Throws `ResultRejected` unless
   * every data provider of the measurement signed exactly one result of the requested type. A signature does not
   * name its measurement, so a result that the exchange took from another measurement of this consumer, of the same
   * type, is not detected.
   */
  open(measurement: Measurement, options?: CallOptions): Promise<MeasurementResult>;
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
    create: (request, { signal } = {}) => createMeasurement(deps, request, signal),
    wait: (name, waiting) => waitForMeasurement(deps.client, name, waiting, deps.clock),
    open: (measurement, { signal } = {}) => openMeasurement(deps, measurement, signal),
    async measure(request, waiting = {}) {
      const { name } = await consumer.create(request, waiting);
      return consumer.open(await consumer.wait(name!, waiting), waiting);
    },
    readEventGroup: (name, { signal } = {}) => readEventGroup(deps, name, signal),
    listEventGroups: (filters) => listEventGroups(deps, filters),
  };
  return consumer;
}
