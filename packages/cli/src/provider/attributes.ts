/** The attributes that filters can use, as the agent publishes them: types from the files, words from the settings. */
import { type EventGroupAttribute, isAttributeName, MAX_ATTRIBUTES } from '@measurement-exchange/contract';
import type { AttributeType, EventsConfig } from '@measurement-exchange/sdk/provider';
import type { ProviderConfig } from './config.ts';

type Described = NonNullable<ProviderConfig['attributes']>;

/** Adds the types in the settings, in which CSV is read, and which other files must have. */
export function withTypes(
  events: NonNullable<ProviderConfig['events']>,
  described: Described = {},
): EventsConfig {
  const { columns } = events;
  if (columns?.attributes === undefined) return events as EventsConfig;
  const typed = columns.attributes.map((name) => [name, described[name]?.type?.toLowerCase()]);
  return { ...events, columns: { ...columns, attributes: Object.fromEntries(typed) } };
}

/**
 * Returns the attributes whose names filters can spell. Throws if the settings describe one that the events do not have.
 */
export function attributesOf(
  found: Readonly<Record<string, AttributeType>>,
  described: Described = {},
): EventGroupAttribute[] {
  const unknown = Object.keys(described).find((name) => !Object.hasOwn(found, name));
  if (unknown !== undefined) {
    const names = Object.keys(found).join(', ') || 'none';
    throw new Error(`attributes.${unknown}: the events have no such attribute. They have ${names}.`);
  }
  const named = Object.entries(found).filter(([name]) => isAttributeName(name));
  const attributes = named.map(([name, type]) => {
    const { description, exampleValues } = described[name] ?? {};
    return {
      name,
      type: type.toUpperCase() as EventGroupAttribute['type'],
      ...(description !== undefined && { description }),
      ...(exampleValues !== undefined && { exampleValues }),
    };
  });
  return attributes.slice(0, MAX_ATTRIBUTES);
}
