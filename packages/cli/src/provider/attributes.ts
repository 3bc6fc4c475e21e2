/**
 * Determines the attributes that filters can use. Their types come from the events, and their descriptions come from
 * the settings.
 */
import { type EventGroupAttribute, isAttributeName, MAX_ATTRIBUTES } from '@measurement-exchange/contract';
import type { AttributeType } from '@measurement-exchange/sdk/provider';
import type { ProviderConfig } from './config.ts';

type Described = NonNullable<ProviderConfig['attributes']>;

/**
 * Returns the attributes whose names are valid in filters, at most MAX_ATTRIBUTES. Throws if the settings describe an
 * attribute that the events do not have.
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
