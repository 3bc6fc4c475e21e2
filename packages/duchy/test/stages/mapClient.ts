import type { ExchangeClient } from '@measurement-exchange/sdk';

/** A method of the client, with any arguments. */
// biome-ignore lint/suspicious/noExplicitAny: each operation has its own arguments and response
export type Call = (args?: any) => Promise<unknown> | AsyncIterable<unknown>;

/** Builds a client by mapping each method of another client. */
export function mapClient(
  client: ExchangeClient,
  map: (call: Call, operation: string) => Call,
): ExchangeClient {
  const methods = Object.entries(client).map(([operation, call]) => [
    operation,
    map(call as Call, operation),
  ]);
  return Object.fromEntries(methods) as ExchangeClient;
}
