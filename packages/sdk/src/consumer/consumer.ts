import type { Measurement } from '@measurement-exchange/contract';
import { systemClock } from '../client/clock.ts';
import { createMeasurement, prepareMeasurement } from './create.ts';
import type { ConsumerOptions } from './deps.ts';
import {
  type DescribedEventGroup,
  type EventGroupFilters,
  listEventGroups,
  readEventGroup,
} from './eventGroups.ts';
import { type MeasurementResult, openMeasurement } from './open.ts';
import { type MeasurementPlan, type PlanOptions, planMeasurement } from './plan.ts';
import { openQuestion } from './question.ts';
import { readRequest } from './readRequest.ts';
import { Reports } from './reports/reports.ts';
import type { MeasurementRequest, Question } from './request.ts';
import { type WaitOptions, waitForMeasurement } from './wait.ts';

/** Options for every call. Aborting the signal ends the call, but changes on the exchange are not undone. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** Options for `open`. */
export interface OpenOptions extends CallOptions {
  /**
   * The request that the measurement should have been created from. `open` throws if the measurement was created from a
   * different request.
   */
  request?: MeasurementRequest;
}

/** Creates measurements and reads their results as a measurement consumer. */
export interface Consumer {
  /**
   * Signs the request, encrypts each data provider's RequisitionSpec, and creates the measurement. Each measurement has
   * its own result key, which the consumer can derive again from its private encryption key.
   *
   * Throws `FilterRejected` and creates nothing if a filter is invalid. The syntax and the function names of a filter
   * are always checked. Attribute names and types are checked only if the filter's event group publishes attributes.
   *
   * Throws `DataProviderUntrusted` and creates nothing if a data provider's key is not trusted.
   *
   * Throws `ProtocolRejected` if the consumer does not accept the protocol or the duchies that the exchange chose to
   * compute the measurement. The measurement then exists.
   *
   * A call with a `requestId` is idempotent, even after a crash: it returns the measurement that an earlier call
   * created from the same request with the same ID. If the earlier request differs in any way, including event groups
   * and filters, throws the `ExchangeError` REQUEST_ID_REUSED, with the existing measurement's name in
   * `metadata.existing`.
   */
  create(request: MeasurementRequest, options?: CallOptions): Promise<Measurement>;
  /**
   * Asks the exchange which measurement `create` would create, and creates nothing. Returns the protocol and the
   * duchies, whether this consumer accepts them, the problems that the exchange found, the expected uncertainty of each
   * figure, and the charge to the data providers' budgets. Makes the same checks as `create`. `plan.create()` creates
   * exactly the planned measurement.
   */
  plan(request: MeasurementRequest, options?: PlanOptions): Promise<MeasurementPlan>;
  /** Waits until the measurement succeeds. Throws `MeasurementFailed` if it fails or is canceled. */
  wait(name: string, options?: WaitOptions): Promise<Measurement>;
  /**
   * Decrypts and verifies every result, and estimates the error of each figure. Throws `ResultRejected` if a check
   * fails.
   *
   * This consumer must have signed the spec, and the spec must contain exactly the nonce hashes of the data providers.
   * If duchies compute the measurement, there must be one result, signed by their aggregator, and the consumer must
   * accept all of the duchies. If the data providers compute the results themselves, there must be one result from each
   * data provider, signed by that provider. Each result must have the requested type and be encrypted for the public
   * key in the spec.
   *
   * Pass `request` too, because otherwise the exchange could return another of this consumer's measurements under this
   * name.
   */
  open(measurement: Measurement, options?: OpenOptions): Promise<MeasurementResult>;
  /**
   * Returns the request that the measurement was created from, with its title. `create` stores the request with the
   * measurement, encrypted for this consumer, if the ciphertext is at most 64 KiB long. Returns undefined if no request
   * is stored. Throws `QuestionRejected` if the stored request fails a check, for example because this consumer did not
   * sign it, or signed it for another measurement.
   */
  question(measurement: Measurement, options?: CallOptions): Promise<Question | undefined>;
  /** Calls `create`, `wait`, and `open`. */
  measure(request: MeasurementRequest, options?: WaitOptions): Promise<MeasurementResult>;
  /**
   * Reads an event group by its resource name, `measurementConsumers/x/eventGroups/y`. Throws `MetadataUnreadable` if
   * its metadata cannot be decrypted or decoded.
   */
  readEventGroup(name: string, options?: CallOptions): Promise<DescribedEventGroup>;
  /**
   * Plans, runs, and checks reports. A report answers several questions about a campaign with few measurements, and
   * corrects its figures so that they do not contradict each other.
   */
  readonly reports: Reports;
  /** Lists the consumer's event groups. If an entry's metadata cannot be read, the entry has an `error`. */
  listEventGroups(filters?: EventGroupFilters): AsyncIterable<DescribedEventGroup>;
}

/**
 * Creates a measurement consumer for an exchange.
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
    reports: new Reports(deps),
    async create(request, { signal } = {}) {
      const call = { ...deps, signal };
      return createMeasurement(call, await prepareMeasurement(call, request));
    },
    plan: (request, options = {}) => planMeasurement({ ...deps, signal: options.signal }, request, options),
    wait: (name, waiting) => waitForMeasurement(deps.client, name, waiting, deps.clock),
    open: async (measurement, { request, signal } = {}) =>
      openMeasurement({ ...deps, signal }, measurement, request && readRequest(request)),
    question: (measurement, { signal } = {}) => openQuestion({ ...deps, signal }, measurement),
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
 * Returns the finished measurement `done`, but with the spec and the protocol that `create` returned, because the
 * exchange may have changed them since.
 */
export function asCreated(done: Measurement, { measurementSpec, protocolConfig }: Measurement): Measurement {
  return { ...done, ...(measurementSpec && { measurementSpec }), ...(protocolConfig && { protocolConfig }) };
}
