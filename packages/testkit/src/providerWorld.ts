/** A provider with events on a running exchange, and a consumer that asks for measurements. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measurement, Requisition } from '@measurement-exchange/contract';
import {
  type ClientOptions,
  createClient,
  type ExchangeClient,
  type MeasurementRequest,
} from '@measurement-exchange/sdk';
import { startWorld, type World } from './world.ts';

/** The number of people, and the days of their events. The person with VID v has v events, which last 2.5 s each. */
export const PEOPLE = 100;
export const DAYS = ['2026-07-01', '2026-07-02', '2026-07-03'];
const INTERVAL = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };

export interface ProviderWorld extends World {
  /** The provider's token. */
  token: string;
  /** The resource name of the event group. Its reference in the events is `spring`. */
  eventGroup: string;
  directory: string;
  /** The path of the CSV file with the events. */
  events: string;
  /** Creates a client of the provider. */
  client(options?: Partial<ClientOptions>): ExchangeClient;
  /** Creates a measurement with only this provider. It measures reach unless `changes` contains another type. */
  ask(changes?: Partial<MeasurementRequest> & { filter?: string }): Promise<Measurement>;
  /** Reads the requisition of a measurement that `ask` created, as the provider currently sees it. */
  requisitionOf(measurement: Measurement): Promise<Requisition & { name: string }>;
  /** Stops everything, and returns the errors that `TestExchange.stop` found. The list must be empty. */
  stop(): Promise<string[]>;
}

export async function startProviderWorld(): Promise<ProviderWorld> {
  const world = await startWorld();
  const { exchange, acme, streamly, consumer } = world;
  const directory = await mkdtemp(join(tmpdir(), 'mex-provider-'));
  const events = join(directory, 'events.csv');
  await writeFile(events, eventsCsv());
  const { token } = exchange.dev.dataProviders[0]!;
  const created = await streamly.client.createEventGroup({
    parent: streamly.name,
    body: { measurementConsumer: acme.name, eventGroupReferenceId: 'spring' },
  });
  const eventGroup = created.name!;
  return {
    ...world,
    token,
    eventGroup,
    directory,
    events,
    client: (options) => createClient({ baseUrl: exchange.url, token, ...options }),
    ask: ({ filter, ...changes } = {}) => {
      const selected = { name: eventGroup, interval: INTERVAL, ...(filter !== undefined && { filter }) };
      return consumer.create({
        type: 'reach',
        dataProviders: [{ name: streamly.name, eventGroups: [selected] }],
        privacy: { epsilon: 0.25, delta: 0 },
        ...changes,
      });
    },
    requisitionOf: async ({ name: parent }) => {
      const [seen] = await Array.fromAsync(acme.client.listMeasurementRequisitions({ parent: parent! }));
      const name = `${streamly.name}/requisitions/${seen!.name!.split('/').at(-1)}`;
      return { ...(await streamly.client.getRequisition({ name })), name };
    },
    stop: async () => {
      await rm(directory, { recursive: true });
      return exchange.stop();
    },
  };
}

export function eventsCsv(): string {
  const rows = ['vid,timestamp,event_group,duration,age'];
  for (let vid = 1; vid <= PEOPLE; vid++) {
    for (let n = 0; n < vid; n++) {
      rows.push(`${vid},${DAYS[n % DAYS.length]} 12:00:00,spring,2.5,${vid % 80}`);
    }
  }
  return `${rows.join('\n')}\n`;
}
