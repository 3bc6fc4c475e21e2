import type { ExchangeClient } from '@measurement-exchange/sdk';

/** A method of the client, whatever it takes. */
// biome-ignore lint/suspicious/noExplicitAny: every operation has arguments and a response of its own
export type Call = (args?: any) => Promise<unknown> | AsyncIterable<unknown>;

/** A client whose methods are made from those of another one. */
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
