/** Starts the demo's data providers. Each one creates event groups for the advertiser and runs an agent. */
import { join } from 'node:path';
import { createClient, createTrustStore, readCredentials } from '@measurement-exchange/sdk';
import { createAgent, openEvents, openLedger, openPopulation } from '@measurement-exchange/sdk/provider';
import { type DevFile, type DevParty, findDevParty } from '../files/devFile.ts';
import { duchySettingsOf } from '../provider/duchies.ts';
import { type Audience, CAMPAIGN, EVENT_GROUPS, type PopulationSpec } from './audience.ts';

export interface StartedProviders {
  /** The names of each data provider's event groups. */
  eventGroups: Map<string, string[]>;
  stop(): Promise<void>;
}

/**
 * Each provider's privacy budget per event group reference and day. Only the measurement that the demo expects to be
 * refused exceeds it.
 */
const BUDGET = { epsilon: 1, delta: 1e-6, rho: 0.2 };

export async function startProviders(options: {
  dev: DevFile;
  consumer: DevParty;
  audiences: Audience[];
  population: PopulationSpec;
  /** The folder for the ledgers. Each run of the demo starts with new ledgers. */
  directory: string;
  /** The folder that caches the population's sorted VIDs for later runs of the demo. */
  sharesFolder: string;
  pollMs: number;
}): Promise<StartedProviders> {
  const { dev, consumer, audiences, directory, sharesFolder, pollMs } = options;
  const trust = createTrustStore([{ party: consumer.name, pem: dev.rootCertificatePem }]);
  const population = openPopulation(options.population);
  const access = { measurementConsumers: [consumer.name], served: true };
  const references = Object.fromEntries(EVENT_GROUPS.map((reference) => [reference, access]));
  const eventGroups = new Map<string, string[]>();
  const stopping = new AbortController();
  await using opened = new AsyncDisposableStack();
  for (const { dataProvider, file } of audiences) {
    const party = findDevParty(dev, dataProvider);
    const client = createClient({ baseUrl: dev.baseUrl, token: party.token });
    const events = await openEvents({ files: file });
    opened.defer(() => events.close());
    const path = join(directory, `${party.name.split('/')[1]}.ledger`);
    const { shareShuffle, liquidLegions } = await duchySettingsOf({ as: party.name }, path);
    const ledger = openLedger(path, BUDGET);
    opened.defer(() => ledger.close());
    eventGroups.set(dataProvider, await describeEventGroups(client, dataProvider, consumer.name));
    const agent = createAgent({
      client,
      credentials: readCredentials(party),
      trust,
      events,
      population,
      ledger,
      references,
      ...(shareShuffle && { shareShuffle: { ...shareShuffle, folder: sharesFolder } }),
      ...(liquidLegions && { liquidLegions: { ...liquidLegions, folder: sharesFolder } }),
      pollMs,
    });
    const running = agent.run(stopping.signal);
    opened.defer(() => {
      stopping.abort();
      return running;
    });
  }
  const started = opened.move();
  return { eventGroups, stop: () => started.disposeAsync() };
}

/** Creates the event groups, or returns those that an earlier demo created on the same exchange. */
async function describeEventGroups(
  client: ReturnType<typeof createClient>,
  parent: string,
  measurementConsumer: string,
): Promise<string[]> {
  const created = EVENT_GROUPS.map((reference) =>
    client.createEventGroup({
      parent,
      requestId: `demo-${measurementConsumer}-${reference}`,
      body: {
        measurementConsumer,
        eventGroupReferenceId: reference,
        mediaTypes: [reference.endsWith('video') ? 'VIDEO' : 'DISPLAY'],
        dataAvailabilityInterval: { startTime: CAMPAIGN.start, endTime: CAMPAIGN.end },
        eventGroupMetadata: {
          adMetadata: { campaignMetadata: { brandName: 'Acme Cola', campaignName: 'Autumn' } },
        },
      },
    }),
  );
  return (await Promise.all(created)).map(({ name }) => name!);
}
