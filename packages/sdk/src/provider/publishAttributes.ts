/** Publishes the attributes that filters can use in a data provider's event groups. */
import type { EventGroup, EventGroupAttribute } from '@measurement-exchange/contract';
import type { ExchangeClient } from '../client/index.ts';
import type { References } from './verify/selection.ts';

export interface PublishOptions {
  /** The data provider's resource name, `dataProviders/…`. */
  name: string;
  /** The attributes. Their descriptions and examples must not come from the events, because consumers see them. */
  attributes: EventGroupAttribute[];
  /** The event group references whose event groups are updated. `unchecked` means all event groups of the provider. */
  references: References | 'unchecked';
  signal?: AbortSignal | undefined;
}

/** Updates the event groups whose attributes differ from `attributes`, and returns how many it updated. */
export async function publishAttributes(
  client: ExchangeClient,
  { name, attributes, references, signal }: PublishOptions,
): Promise<number> {
  let updated = 0;
  const text = JSON.stringify(attributes.map(inOrder));
  for await (const eventGroup of client.listEventGroups({ parent: name, signal })) {
    if (!isListed(eventGroup, references)) continue;
    if (JSON.stringify((eventGroup.attributes ?? []).map(inOrder)) === text) continue;
    await client.updateEventGroup({ name: eventGroup.name!, body: { ...eventGroup, attributes }, signal });
    updated++;
  }
  return updated;
}

function isListed(
  { name = '', eventGroupReferenceId }: EventGroup,
  references: PublishOptions['references'],
) {
  if (references === 'unchecked') return true;
  const listed = Object.values(references).some(({ eventGroups = [] }) => eventGroups.includes(name));
  return listed || Object.hasOwn(references, eventGroupReferenceId ?? '');
}

/** Returns the attribute's members in a fixed order, so that two attributes can be compared as JSON. */
function inOrder({ name, type, description, exampleValues = [] }: EventGroupAttribute) {
  return [name, type, description ?? '', exampleValues];
}
