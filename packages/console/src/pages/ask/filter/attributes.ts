/** Merges the attributes of several event groups, for use in filters. */
import type { EventGroup, EventGroupAttribute } from '@measurement-exchange/contract';
import { quoted } from './tokens.ts';

/** An attribute, and the publishers that have it in all of their event groups. */
export interface OfferedAttribute extends EventGroupAttribute {
  publishers: readonly string[];
}

export type Described = Pick<EventGroup, 'attributes' | 'dataProvider'>;

/** Returns every attribute that at least one event group has. Attributes with the most publishers come first. */
export function offeredAttributes(groups: readonly Described[]): OfferedAttribute[] {
  const byPublisher = Map.groupBy(groups, ({ dataProvider }) => dataProvider!);
  const merged = new Map<string, EventGroupAttribute>();
  for (const attribute of groups.flatMap(({ attributes = [] }) => attributes)) {
    const { exampleValues = [], ...known } = merged.get(attribute.name) ?? attribute;
    const examples = [...new Set([...exampleValues, ...(attribute.exampleValues ?? [])])];
    merged.set(attribute.name, { ...known, ...(examples.length > 0 && { exampleValues: examples }) });
  }
  const offers = (of: readonly Described[], name: string) =>
    of.every(({ attributes = [] }) => attributes.some((attribute) => attribute.name === name));
  return [...merged.values()]
    .map((attribute) => ({
      ...attribute,
      publishers: [...byPublisher].filter(([, of]) => offers(of, attribute.name)).map(([name]) => name),
    }))
    .sort((a, b) => b.publishers.length - a.publishers.length);
}

export function literalsOf({ type, exampleValues = [] }: EventGroupAttribute): string[] {
  switch (type) {
    case 'STRING':
      return exampleValues.map(quoted);
    case 'BOOL':
      return ['true', 'false'];
    case 'INT':
      return exampleValues.filter((value) => /^-?\d+$/.test(value));
    case 'UINT':
      return exampleValues.filter((value) => /^\d+$/.test(value)).map((value) => `${value}u`);
    case 'DOUBLE':
      return exampleValues
        .filter((value) => /^-?\d+(\.\d+)?$/.test(value))
        .map((value) => (value.includes('.') ? value : `${value}.0`));
    case 'TIMESTAMP':
      return exampleValues
        .filter((value) => !Number.isNaN(Date.parse(value)))
        .map((value) => `timestamp(${quoted(value)})`);
  }
}
