/** Creates the event groups with which synthetic publishers describe their events to a consumer. */
import type { EventGroupAttribute, EventGroupInput } from '@measurement-exchange/contract';
import type { ExchangeClient, MeasurementRequest } from '@measurement-exchange/sdk';
import { CAMPAIGN, EVENT_GROUPS } from './audience.ts';

/**
 * Creates a publisher's event groups, and returns their names. These event groups do not list attributes, so a publisher
 * may refuse a filter.
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
 * Creates the event groups that the publisher does not have yet. These event groups list the attributes that filters can
 * use.
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

/** The columns of the event files that filters can use. */
const ATTRIBUTES: EventGroupAttribute[] = [
  { name: 'gender', type: 'STRING', exampleValues: ['F', 'M'] },
  {
    name: 'age_group',
    type: 'STRING',
    description: 'Age in years',
    exampleValues: ['18-34', '35-54', '55+'],
  },
  { name: 'device', type: 'STRING', exampleValues: ['tv', 'phone', 'desktop'] },
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
 * Returns a function that builds a request's `dataProviders`. They include all event groups of the named providers, for the
 * whole campaign.
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
