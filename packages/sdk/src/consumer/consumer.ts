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

/** What every call of a consumer takes. The signal ends the call, not what it has begun at the exchange. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** What a measurement consumer does. */
export interface Consumer {
  /**
   * Signs the request, encrypts each data provider's part for it, and creates the measurement. Every data
   * provider's key is verified first; `DataProviderUntrusted` says which one was not to be trusted, and
   * nothing is created.
   *
   * With a `requestId` it can be repeated, after a crash too: nonces and ciphertexts are new each time, so
   * the exchange takes it for another request, and the measurement that has the ID is returned when it asks
   * the same of the same data providers under the same reference. Event groups, intervals and filters cannot
   * be compared, since only the data providers can read them: use a new ID for a new question. Where the rest
   * differs, the `ExchangeError` REQUEST_ID_REUSED names the measurement in `metadata.existing`.
   */
  create(request: MeasurementRequest, options?: CallOptions): Promise<Measurement>;
  /** The measurement once it has succeeded; throws `MeasurementFailed` when it ends otherwise. */
  wait(name: string, options?: WaitOptions): Promise<Measurement>;
  /**
   * Decrypts and verifies every result, and estimates how far each figure may be from the truth. Throws
   * `ResultRejected` unless every data provider of the measurement signed exactly one result of the type
   * asked for. A signature does not name the measurement it was made for: that the exchange hands out a data
   * provider's answer to another measurement of this consumer, of the same type, cannot be seen.
   */
  open(measurement: Measurement, options?: CallOptions): Promise<MeasurementResult>;
  /** `create`, `wait` and `open`. */
  measure(request: MeasurementRequest, options?: WaitOptions): Promise<MeasurementResult>;
  /** An event group by its name under the consumer; throws `MetadataUnreadable` where its metadata is not. */
  readEventGroup(name: string, options?: CallOptions): Promise<DescribedEventGroup>;
  /** The event groups described to the consumer. Metadata that cannot be read is an `error` of its entry. */
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
