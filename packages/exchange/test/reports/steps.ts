/** Test helpers that create, change, and read reports. */
import type { DevParty, Reply, TestExchange } from '@measurement-exchange/testkit/exchange';
import { reportRequest } from '@measurement-exchange/testkit/requests';
import {
  createMeasurement,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';

type Json = Reply['json'];

export function createReport(
  exchange: TestExchange,
  consumer: DevParty,
  measurements: Json[] = [],
  query = '',
): Promise<Json> {
  const input = reportRequest(measurements.map(({ name }) => name));
  return ok(post(exchange, consumer, `${consumer.name}/reports${query}`, input));
}

export function patch(
  exchange: TestExchange,
  consumer: DevParty,
  name: string,
  body: object,
): Promise<Reply> {
  return exchange.call(consumer.token, 'PATCH', `/v2alpha/${name}`, body);
}

export function remove(exchange: TestExchange, consumer: DevParty, name: string): Promise<Reply> {
  return exchange.call(consumer.token, 'DELETE', `/v2alpha/${name}`);
}

/** Creates a measurement that one provider has fulfilled. */
export async function succeeded(
  exchange: TestExchange,
  consumer: DevParty,
  provider: DevParty,
): Promise<Json> {
  const measurement = await createMeasurement(exchange, consumer, [provider]);
  await end(exchange, provider, measurement);
  return measurement;
}

export async function end(exchange: TestExchange, provider: DevParty, measurement: Json): Promise<void> {
  const requisition = await requisitionOf(exchange, provider, measurement);
  await ok(fulfill(exchange, provider, requisition, 1n));
}

export async function stateOf(exchange: TestExchange, consumer: DevParty, { name }: Json): Promise<string> {
  return (await get(exchange, consumer, name)).state;
}
