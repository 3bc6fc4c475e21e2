/** Starts an exchange whose provider streamly has events in `events.csv`, and asks questions about these events. */
import { writeFile } from 'node:fs/promises';
import { eventsCsv } from '@measurement-exchange/testkit/providerWorld';
import { beforeAll } from 'vitest';
import { describeTo, path, useWorld, w } from './partyWorld.ts';

const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
export let eventGroup: string;

/**
 * Starts the exchange for the tests of one file. Streamly describes its events to Acme in the event group `spring`.
 * Call this function once, at the top of the file.
 */
export function useProviderWorld(): void {
  useWorld();
  beforeAll(async () => {
    await writeFile(path('events.csv'), eventsCsv());
    eventGroup = await describeTo(w.acme, w.streamly, 'spring');
  });
}

export const askFor = (
  consumer: typeof w.consumer,
  provider: string,
  name: string,
  epsilon: number,
  filter?: string,
) =>
  consumer.create({
    type: 'reach',
    dataProviders: [{ name: provider, eventGroups: [{ name, interval, ...(filter && { filter }) }] }],
    privacy: { epsilon, delta: 0 },
  });

export const ask = (epsilon = 1, filter?: string) =>
  askFor(w.consumer, w.streamly.name, eventGroup, epsilon, filter);

export const stateOf = async ({ name }: { name?: string }) =>
  (await w.acme.client.getMeasurement({ name: name! })).state;

/** The command that runs streamly's agent, without its last argument, the path of the events. */
export const demo = ['provider', 'run', '--as', 'streamly', '--events'];
