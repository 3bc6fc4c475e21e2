/** Starts an exchange with parties whose responses the test chooses. */
import { type Party, useWorld as startsWorld, type World } from '@measurement-exchange/testkit/world';
import { beforeAll, vi } from 'vitest';
import { useEnvironment } from './environment.ts';

export { path } from './environment.ts';

export let w: World;

/**
 * Starts the exchange for the tests of one file. Streamly and Chirper describe an event group `spring` to Acme. Call
 * this function once, at the top of the file.
 */
export function useWorld(): void {
  w = startsWorld();
  useEnvironment(() => w.exchange);
  beforeAll(async () => {
    for (const provider of [w.streamly, w.chirper]) await describeTo(w.acme, provider, 'spring');
  });
}

/** Creates an event group and returns its name. */
export async function describeTo(consumer: Party, provider: Party, reference: string): Promise<string> {
  const body = { measurementConsumer: consumer.name, eventGroupReferenceId: reference };
  return (await provider.client.createEventGroup({ parent: provider.name, body })).name!;
}

/** Waits for an open requisition of this provider, and returns the name of its measurement. */
export function asked(provider: Party): Promise<string> {
  return vi.waitUntil(
    async () => {
      const states = { 'filter.states': ['UNFULFILLED' as const] };
      const { requisitions } = await provider.client
        .listRequisitions({ parent: provider.name, ...states })
        .page();
      return requisitions.at(-1)?.measurement;
    },
    { timeout: 90_000, interval: 50 },
  ) as Promise<string>;
}
