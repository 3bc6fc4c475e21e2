/** Runs the agents of synthetic publishers in this process. */
import { createTrustStore, readCredentials } from '@measurement-exchange/sdk';
import {
  type AgentEvent,
  createAgent,
  openEvents,
  openLedger,
  openPopulation,
  type PrivacyAmount,
} from '@measurement-exchange/sdk/provider';
import { given } from '../calls/command.ts';
import { type DevFile, findDevParty } from '../files/devFile.ts';
import { duchySettingsOf } from '../provider/duchies.ts';
import { type Audience, EVENT_GROUPS, type PopulationSpec } from './audience.ts';
import { clientOf } from './client.ts';

interface AgentsOptions {
  dev: DevFile;
  /** The consumer that is allowed to measure the publishers' events. */
  consumer: string;
  /**
   * An event group reference (a publisher's own ID of the event group) that no publisher has confirmed yet, and the
   * consumer that is allowed to measure it. The agents do not answer requisitions for this reference until it is
   * confirmed.
   */
  unconfirmed?: { reference: string; consumer: string };
  audiences: Audience[];
  population: PopulationSpec;
  /** Each publisher's privacy budget per event group reference and day. */
  budget: PrivacyAmount;
  ledgerOf: (dataProvider: string) => string | Promise<string>;
  /** The folder for pending uploads. It also caches the population's sorted VIDs for later runs. */
  sharesFolder: string;
  /** The number of threads of each publisher's query engine. Default: one per core. */
  threads?: number;
  pollMs?: number;
  log?: (dataProvider: string, event: AgentEvent) => void;
}

/** Starts one agent per audience. `stop` waits for the requisitions in progress. */
export async function startAgents(options: AgentsOptions): Promise<{ stop(): Promise<void> }> {
  const { dev, consumer, audiences, budget, ledgerOf, sharesFolder: folder } = options;
  const { threads, pollMs, log, unconfirmed } = options;
  const consumers = [consumer, ...(unconfirmed ? [unconfirmed.consumer] : [])];
  const trust = createTrustStore(consumers.map((party) => ({ party, pem: dev.rootCertificatePem })));
  const population = openPopulation(options.population);
  const access = { measurementConsumers: [consumer], served: true };
  const references = {
    ...Object.fromEntries(EVENT_GROUPS.map((reference) => [reference, access])),
    ...(unconfirmed && { [unconfirmed.reference]: { measurementConsumers: [unconfirmed.consumer] } }),
  };
  const stopping = new AbortController();
  await using opened = new AsyncDisposableStack();
  for (const { dataProvider, file, source } of audiences) {
    const place = source ? { source } : { files: file, ...given({ threads }) };
    const events = await openEvents({ ...place, population });
    opened.defer(() => events.close());
    const path = await ledgerOf(dataProvider);
    const { shareShuffle, liquidLegions } = await duchySettingsOf({ as: dataProvider }, path);
    const ledger = openLedger(path, budget);
    opened.defer(() => ledger.close());
    const agent = createAgent({
      client: clientOf(dev, dataProvider),
      credentials: readCredentials(findDevParty(dev, dataProvider)),
      trust,
      events,
      population,
      ledger,
      references,
      ...(shareShuffle && { shareShuffle: { ...shareShuffle, folder } }),
      ...(liquidLegions && { liquidLegions: { ...liquidLegions, folder } }),
      ...given({ pollMs }),
      ...(log && { log: (event) => log(dataProvider, event) }),
    });
    const running = agent.run(stopping.signal);
    opened.defer(() => {
      stopping.abort();
      return running;
    });
  }
  const started = opened.move();
  return { stop: () => started.disposeAsync() };
}
