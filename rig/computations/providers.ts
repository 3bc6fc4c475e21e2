/** The agents of the providers. They verify requisitions and upload shares or sketches, as in production. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTrustStore } from '@measurement-exchange/sdk';
import { createAgent, openEvents, openLedger } from '@measurement-exchange/sdk/provider';
import type { Random } from '../random.ts';
import { type Audience, drawAudience, eventsCsv, REFERENCE } from './audience.ts';
import type { ComputationWorld } from './world.ts';

/** A budget that no run uses up, because this harness does not test budgets. */
const BUDGET = { epsilon: 1e6, delta: 1e-2, rho: 1e6 };
const POLL_MS = 500;

export interface Provider {
  name: string;
  eventGroup: string;
  audience: Audience;
}

export async function startProviders(
  world: ComputationWorld,
  random: Random,
  started: AsyncDisposableStack,
): Promise<Provider[]> {
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const providers = await Promise.all(
    world.providerParties.map(async ({ name, credentials, client }, i) => {
      const audience = drawAudience(random.fork(`audience ${i}`));
      const folder = join(world.home, name.replace('/', '-'));
      await mkdir(folder);
      const file = join(folder, 'events.csv');
      await writeFile(file, eventsCsv(audience));
      const events = await openEvents({ files: file, threads: 1 });
      started.defer(() => events.close());
      const ledger = openLedger(join(folder, 'ledger.sqlite'), BUDGET);
      started.defer(() => ledger.close());
      const body = { measurementConsumer: world.consumerName, eventGroupReferenceId: REFERENCE };
      const created = await client.createEventGroup({ parent: name, body });
      const duchies = Object.fromEntries(
        Object.entries(world.roots).map(([duchy, rootPem]) => [duchy, { rootPem }]),
      );
      const multiParty = {
        ...{ duchies, allowHttp: true, folder: join(folder, 'shares') },
        noiseMechanisms: ['DISCRETE_GAUSSIAN', 'NONE'] as const,
      };
      const agent = createAgent({
        client,
        credentials,
        events,
        ledger,
        trust: createTrustStore([{ party: world.consumerName, pem: world.devRoot }]),
        references: { [REFERENCE]: { measurementConsumers: [world.consumerName], served: true } },
        shareShuffle: { ...multiParty, populations: [world.populationFingerprint] },
        liquidLegions: multiParty,
        pollMs: POLL_MS,
        log: (event) => {
          if (event.type !== 'refused') return;
          world.violations.add(`${event.requisition} was refused: ${event.justification}, ${event.message}`);
        },
      });
      // Wait for the first round of each agent, in which the agent tells the exchange the protocols that it supports.
      // Before that, a consumer cannot use these protocols with the provider.
      await agent.once();
      running.push(agent.run(stopping.signal));
      return { name, eventGroup: created.name!, audience };
    }),
  );
  started.defer(async () => {
    stopping.abort();
    await Promise.all(running);
  });
  return providers;
}
