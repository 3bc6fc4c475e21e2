/** Starts the demo's data providers. Each provider creates event groups for the advertiser and runs an agent. */
import { join } from 'node:path';
import type { DevFile } from '../files/devFile.ts';
import { startAgents } from '../publishers/agents.ts';
import type { Audience, PopulationSpec } from '../publishers/audience.ts';
import { clientOf } from '../publishers/client.ts';
import { createEventGroups } from '../publishers/eventGroups.ts';
import { BUDGET } from './privacy.ts';

export interface StartedProviders {
  /** The resource names of each data provider's event groups, by the provider's resource name. */
  eventGroups: Map<string, string[]>;
  /** Stops the agents, and deletes the event groups. */
  stop(): Promise<void>;
}

export async function startProviders(options: {
  dev: DevFile;
  /** The advertiser's resource name, such as `measurementConsumers/acme`. */
  consumer: string;
  audiences: Audience[];
  population: PopulationSpec;
  /** The folder for the ledgers. Each run of the demo starts with new ledgers. */
  directory: string;
  /** The folder for pending uploads. It also caches the population's sorted VIDs for later runs of the demo. */
  sharesFolder: string;
  pollMs: number;
}): Promise<StartedProviders> {
  const { dev, consumer, audiences, directory } = options;
  await using opened = new AsyncDisposableStack();
  const eventGroups = new Map<string, string[]>();
  for (const { dataProvider } of audiences) {
    const client = clientOf(dev, dataProvider);
    const names = await createEventGroups(client, dataProvider, consumer);
    opened.defer(async () => {
      await Promise.all(names.map((name) => client.deleteEventGroup({ name })));
    });
    eventGroups.set(dataProvider, names);
  }
  const agents = await startAgents({
    ...options,
    budget: BUDGET,
    ledgerOf: (dataProvider) => join(directory, `${dataProvider.split('/')[1]}.ledger`),
  });
  opened.defer(() => agents.stop());
  const started = opened.move();
  return { eventGroups, stop: () => started.disposeAsync() };
}
