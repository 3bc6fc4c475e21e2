/** Creates a new development exchange's first measurements, so that users have something to look at. */
import {
  type Consumer,
  type ExchangeClient,
  ExchangeError,
  type MeasurementRequest,
} from '@measurement-exchange/sdk';
import type { DevFile } from '../files/devFile.ts';
import { CAMPAIGN } from './audience.ts';
import { ADVERTISER, advertiserOf, clientOf } from './client.ts';
import { campaignOf, ensureEventGroup } from './eventGroups.ts';

const PRIVACY = { epsilon: 1, delta: 1e-9 };

/** Creates the measurements that publishers can answer without duchies. */
export async function askPublishers(dev: DevFile, publishers: string[]): Promise<void> {
  const { client, consumer } = advertiserOf(dev);
  const { alone } = questions(publishers, await eventGroupsOf(client, publishers));
  for (const question of alone) await askOnce(consumer, question);
}

/** Creates the measurement that only the duchies can compute. */
export async function askDuchies(dev: DevFile, publishers: string[]): Promise<void> {
  const { client, consumer } = advertiserOf(dev);
  const { together } = questions(publishers, await eventGroupsOf(client, publishers));
  await askOnce(consumer, together);
}

/**
 * A campaign of another advertiser. No publisher has yet confirmed the campaign's reference (the publisher's own ID of
 * the campaign's event group), so requests to measure the campaign wait for a person's decision.
 */
export const UNCONFIRMED = { reference: 'roadster-video', consumer: 'measurementConsumers/globex' };

/**
 * Creates a measurement of the `UNCONFIRMED` campaign. The agent holds the measurement's requisition until a person
 * confirms the campaign's reference or refuses the requisition.
 */
export async function askUnconfirmed(dev: DevFile, publisher: string): Promise<void> {
  const eventGroup = await ensureEventGroup(clientOf(dev, publisher), publisher, {
    ...UNCONFIRMED,
    brandName: 'Globex Roadster',
    campaignName: 'Launch',
  });
  await askOnce(advertiserOf(dev, UNCONFIRMED.consumer).consumer, {
    title: 'Reach of the launch',
    referenceId: 'reach-of-launch',
    type: 'reach',
    dataProviders: [{ name: publisher, eventGroups: [{ name: eventGroup, interval: CAMPAIGN }] }],
    privacy: PRIVACY,
  });
}

/** Creates the measurement. Does nothing if an earlier start of the exchange already used the same request ID. */
async function askOnce(consumer: Consumer, question: MeasurementRequest): Promise<void> {
  const requestId = `first-${question.referenceId}`;
  await consumer.create({ ...question, requestId }).catch((error: unknown) => {
    if (!(error instanceof ExchangeError && error.reason === 'REQUEST_ID_REUSED')) throw error;
  });
}

/** Returns the names of each publisher's event groups. */
async function eventGroupsOf(client: ExchangeClient, publishers: string[]): Promise<Map<string, string[]>> {
  const names = new Map(publishers.map((publisher) => [publisher, [] as string[]]));
  const listed = client.listEventGroups({ parent: ADVERTISER, 'filter.dataProviders': publishers });
  for await (const { name, dataProvider } of listed) {
    names.get(dataProvider!)!.push(`${dataProvider}/eventGroups/${name!.split('/').at(-1)}`);
  }
  return names;
}

function questions(publishers: string[], eventGroups: Map<string, string[]>) {
  const [first, second] = publishers as [string, string];
  const at = campaignOf(eventGroups);
  const alone: MeasurementRequest[] = [
    {
      title: 'How often one publisher reached people',
      referenceId: 'frequency-of-one',
      type: 'reachAndFrequency',
      dataProviders: at([first]),
      privacy: PRIVACY,
      maximumFrequency: 8,
    },
    {
      title: 'Women on phones',
      referenceId: 'women-on-phones',
      type: 'reach',
      dataProviders: at([second], `gender == 'F' && device == 'phone'`),
      privacy: PRIVACY,
    },
    {
      title: 'Impressions of all publishers',
      referenceId: 'impressions-of-all',
      type: 'impression',
      dataProviders: at(publishers),
      privacy: PRIVACY,
      maximumFrequencyPerUser: 10,
    },
  ];
  const together: MeasurementRequest = {
    title: 'How often all publishers reached people, each counted once',
    referenceId: 'frequency-of-all',
    type: 'reachAndFrequency',
    dataProviders: at(publishers),
    privacy: PRIVACY,
    maximumFrequency: 8,
  };
  return { alone, together };
}
