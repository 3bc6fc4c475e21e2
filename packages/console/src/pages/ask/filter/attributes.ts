/** The attributes that filters can use, merged from several event groups. */
import type { EventGroup, EventGroupAttribute } from '@measurement-exchange/contract';
import { quoted } from './tokens.ts';

/** An attribute, and the publishers whose event groups all have it. */
export interface OfferedAttribute extends EventGroupAttribute {
  publishers: readonly string[];
}

/** An event group's part that filters depend on. */
export type Described = Pick<EventGroup, 'attributes' | 'dataProvider'>;

/** Returns all attributes of the event groups, those that most publishers have first. */
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

/** Returns the example values of an attribute, as a filter contains them. */
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

/** The words for the types of attributes. */
export const TYPE_WORDS: Record<EventGroupAttribute['type'], string> = {
  STRING: 'text',
  INT: 'whole number',
  UINT: 'whole number',
  DOUBLE: 'number',
  BOOL: 'yes or no',
  TIMESTAMP: 'time',
};
