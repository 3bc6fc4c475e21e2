/** The measurements that a new development exchange has, so that there is something to look at. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Consumer,
  type ExchangeClient,
  ExchangeError,
  type MeasurementRequest,
} from '@measurement-exchange/sdk';
import type { DevFile } from '../files/devFile.ts';
import { CAMPAIGN } from './audience.ts';
import { ADVERTISER, advertiserOf } from './client.ts';

/**
 * How long the question for the duchies waits. It keeps them busy for seconds, which the user's own first question should
 * have for itself.
 */
const PAUSE_MS = 30_000;

const PRIVACY = { epsilon: 1, delta: 1e-9 };

/** Asks each question once, however often the exchange is started. */
export async function askFirstQuestions(
  dev: DevFile,
  publishers: string[],
  signal: AbortSignal,
): Promise<void> {
  const { client, consumer } = advertiserOf(dev);
  const eventGroups = await eventGroupsOf(client, publishers);
  const { direct, together } = questions(publishers, eventGroups);
  for (const question of direct) await ask(consumer, question, signal);
  if (dev.duchies.length === 0) return;
  await sleep(PAUSE_MS, undefined, { signal });
  await ask(consumer, together, signal);
}

async function ask(consumer: Consumer, question: MeasurementRequest, signal: AbortSignal): Promise<void> {
  const requestId = `first-${question.referenceId}`;
  await consumer.create({ ...question, requestId }, { signal }).catch((error: unknown) => {
    // An earlier start asked it.
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
  const at = (names: string[], filter?: string): MeasurementRequest['dataProviders'] =>
    names.map((name) => ({
      name,
      eventGroups: eventGroups.get(name)!.map((eventGroup) => ({
        name: eventGroup,
        interval: CAMPAIGN,
        ...(filter !== undefined && { filter }),
      })),
    }));
  const direct: MeasurementRequest[] = [
    {
      referenceId: 'frequency-of-one',
      type: 'reachAndFrequency',
      dataProviders: at([first]),
      privacy: PRIVACY,
      maximumFrequency: 8,
    },
    {
      referenceId: 'women-on-phones',
      type: 'reach',
      dataProviders: at([second], `gender == 'F' && device == 'phone'`),
      privacy: PRIVACY,
    },
    {
      referenceId: 'impressions-of-all',
      type: 'impression',
      dataProviders: at(publishers),
      privacy: PRIVACY,
      maximumFrequencyPerUser: 10,
    },
  ];
  const together: MeasurementRequest = {
    referenceId: 'frequency-of-all',
    type: 'reachAndFrequency',
    dataProviders: at(publishers),
    privacy: PRIVACY,
    maximumFrequency: 8,
  };
  return { direct, together };
}
