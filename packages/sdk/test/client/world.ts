/** Starts an exchange for the tests of a file, and creates clients for the parties of this exchange. */
import {
  decode,
  FulfillDirectRequest,
  MeasurementInput,
  parseJson,
  type Static,
  type TSchema,
} from '@measurement-exchange/contract';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  useExchange as startsExchange,
  type TestExchange,
  toJson,
  UNLIMITED,
} from '@measurement-exchange/testkit/exchange';
import { castOf } from '@measurement-exchange/testkit/steps';
import { beforeAll } from 'vitest';
import { type ClientOptions, createClient, type ExchangeClient } from '../../src/index.ts';

export let exchange: TestExchange;
export let cast: ReturnType<typeof castOf>;

/** Starts an exchange for this test file. Call this once, at the top of the file. */
export function useExchange(): void {
  exchange = startsExchange({ rate: UNLIMITED });
  beforeAll(() => {
    cast = castOf(exchange);
  });
}

export function clientOf({ token }: { token: string }, options: Partial<ClientOptions> = {}): ExchangeClient {
  return createClient({ baseUrl: exchange.url, token, ...options });
}

/** Converts the test harness's JSON to the client's types. */
function typed<S extends TSchema>(schema: S, json: unknown): Static<S> {
  return decode(schema, parseJson(toJson(json)), [])!;
}

/** A valid body of createMeasurement. The default nonces are 1, 2, 3 … */
export const newMeasurement = (consumer: DevParty, providers: DevParty[], nonces?: bigint[]) =>
  typed(MeasurementInput, measurementRequest(consumer, providers, nonces));

/** A valid body of fulfillDirectRequisition. */
export const newFulfillment = (provider: DevParty, etag: string, nonce = 1n) =>
  typed(FulfillDirectRequest, fulfillment(provider, { etag }, nonce));

/** Creates a measurement of acme. */
export const create = (providers: DevParty[], nonces?: bigint[]) =>
  clientOf(cast.acme).createMeasurement({
    parent: cast.acme.name,
    body: newMeasurement(cast.acme, providers, nonces),
  });

/** Returns the provider's requisition of a measurement, as the provider reads it. */
export async function requisitionOf(provider: DevParty, measurement: { name?: string }) {
  const all = clientOf(provider).listRequisitions({ parent: provider.name, pageSize: 1000 });
  for await (const requisition of all) if (requisition.measurement === measurement.name) return requisition;
  throw new Error(`${provider.name} has no requisition of ${measurement.name}`);
}
