/** Describes the events of synthetic publishers to a consumer. */
import type { EventGroupInput } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { CAMPAIGN, EVENT_GROUPS } from './audience.ts';

/** Creates a publisher's event groups, and returns their names. */
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

/** Creates the event groups that the publisher does not have yet. */
export async function ensureEventGroups(
  client: ExchangeClient,
  parent: string,
  measurementConsumer: string,
): Promise<void> {
  const existing = new Set<string | undefined>();
  for await (const group of client.listEventGroups({ parent })) existing.add(group.eventGroupReferenceId);
  for (const reference of EVENT_GROUPS) {
    if (existing.has(reference)) continue;
    await client.createEventGroup({ parent, body: eventGroupOf(reference, measurementConsumer) });
  }
}

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
