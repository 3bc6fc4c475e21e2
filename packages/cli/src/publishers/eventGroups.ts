/** Creates the event groups with which synthetic publishers describe their events to a consumer. */
import type { EventGroupAttribute, EventGroupInput } from '@measurement-exchange/contract';
import type { ExchangeClient, MeasurementRequest } from '@measurement-exchange/sdk';
import { CAMPAIGN, EVENT_GROUPS } from './audience.ts';

/**
 * Creates a publisher's event groups, and returns their resource names. These event groups list no attributes, so only
 * the publisher can check a filter. The publisher refuses requests with an invalid filter.
 */
export async function createEventGroups(
  client: ExchangeClient,
  parent: string,
  measurementConsumer: string,
): Promise<string[]> {
  const created = EVENT_GROUPS.map((reference) =>
    client.createEventGroup({ parent, body: eventGroupOf(reference, measurementConsumer) }),
  );
  return (await Promise.all(created)).map(({ name }) => name!);
}

/**
 * Creates the event groups that the publisher does not have yet. These event groups list the attributes that filters
 * can use.
 */
export async function ensureEventGroups(
  client: ExchangeClient,
  parent: string,
  measurementConsumer: string,
): Promise<void> {
  const existing = new Set<string | undefined>();
  for await (const group of client.listEventGroups({ parent })) existing.add(group.eventGroupReferenceId);
  for (const reference of EVENT_GROUPS) {
    if (existing.has(reference)) continue;
    const body = { ...eventGroupOf(reference, measurementConsumer), attributes: ATTRIBUTES };
    await client.createEventGroup({ parent, body });
  }
}

/**
 * Creates an event group for another consumer, if the publisher does not have it yet. Returns the event group's name.
 */
export async function ensureEventGroup(
  client: ExchangeClient,
  parent: string,
  {
    reference,
    consumer,
    brandName,
    campaignName,
  }: Record<'reference' | 'consumer' | 'brandName' | 'campaignName', string>,
): Promise<string> {
  for await (const { name, eventGroupReferenceId } of client.listEventGroups({ parent })) {
    if (eventGroupReferenceId === reference) return name!;
  }
  const body = {
    ...eventGroupOf(reference, consumer),
    attributes: ATTRIBUTES,
    eventGroupMetadata: { adMetadata: { campaignMetadata: { brandName, campaignName } } },
  };
  return (await client.createEventGroup({ parent, body })).name!;
}

/** The attributes that filters can use: columns of the event files, and attributes of the population. */
const ATTRIBUTES: EventGroupAttribute[] = [
  { name: 'gender', type: 'STRING', exampleValues: ['F', 'M'] },
  {
    name: 'age_group',
    type: 'STRING',
    description: 'Age in years',
    exampleValues: ['18-34', '35-54', '55+'],
  },
  { name: 'device', type: 'STRING', exampleValues: ['tv', 'phone', 'desktop'] },
  {
    name: 'person.age',
    type: 'STRING',
    description: 'Age in years, by the population',
    exampleValues: ['18-34', '35-54', '55+'],
  },
  { name: 'person.sex', type: 'STRING', description: 'By the population', exampleValues: ['F', 'M'] },
];

function eventGroupOf(reference: string, measurementConsumer: string): EventGroupInput {
  return {
    measurementConsumer,
    eventGroupReferenceId: reference,
    mediaTypes: [reference.endsWith('video') ? 'VIDEO' : 'DISPLAY'],
    dataAvailabilityInterval: { startTime: CAMPAIGN.start, endTime: CAMPAIGN.end },
    eventGroupMetadata: {
      adMetadata: { campaignMetadata: { brandName: 'Acme Cola', campaignName: 'Autumn' } },
    },
  };
}

/**
 * Returns a function that builds a request's `dataProviders`. They include all event groups of the named providers, for
 * the whole campaign.
 */
export function campaignOf(eventGroups: ReadonlyMap<string, string[]>) {
  return (names: string[], filter?: string): MeasurementRequest['dataProviders'] =>
    names.map((name) => ({
      name,
      eventGroups: eventGroups.get(name)!.map((eventGroup) => ({
        name: eventGroup,
        interval: CAMPAIGN,
        ...(filter !== undefined && { filter }),
      })),
    }));
}
