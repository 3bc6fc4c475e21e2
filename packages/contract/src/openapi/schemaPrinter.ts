/** Converts our schemas to JSON Schema 2020-12. Keywords that only our codecs understand become standard keywords. */

import type { Keywords } from '../json/codec.ts';
import type { TSchema } from '../json/schema.ts';
import { ATTRIBUTE_NAME_PATTERN, MAX_ATTRIBUTE_NAME } from '../values/attributeNames.ts';
import { PATTERNS, type PatternName } from '../values/names.ts';
import type { JsonSchema } from './types.ts';

type Declared = Keywords & Omit<JsonSchema, keyof Keywords>;

export const ID_PATTERN = '[A-Za-z0-9_-]{1,63}';

/** Converts schemas. A named schema is added to `components` once, and every use of it is a reference. */
export class SchemaPrinter {
  readonly components: Record<string, JsonSchema> = {};
  /**
   * Schema names, keyed by the schema's `properties` object. An optional copy of a schema shares this object, so the
   * copy has the same name.
   */
  private readonly names = new Map<unknown, string>();

  /** Every object schema in `exports` is named after its export. */
  constructor(exports: object) {
    for (const [name, value] of Object.entries(exports)) {
      if ('properties' in Object(value)) this.names.set(value.properties, name);
    }
  }

  /** Returns a reference to the schema. If the schema has no name yet, it gets the name `name`. */
  reference(schema: TSchema, name: string): JsonSchema {
    const { properties } = schema as Declared;
    if (!this.names.has(properties)) this.names.set(properties, name);
    return this.print(schema);
  }

  nameOf(schema: TSchema): string | undefined {
    return this.names.get((schema as Declared).properties);
  }

  add(name: string, schema: JsonSchema): JsonSchema {
    const known = this.components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are named ${name}.`);
    }
    this.components[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  print(schema: TSchema): JsonSchema {
    const name = this.nameOf(schema);
    if (name === undefined) return this.inline(schema);
    return this.add(name, this.components[name] ?? this.inline(schema));
  }

  inline(schema: TSchema): JsonSchema {
    const {
      'x-min-bytes': minBytes,
      'x-max-bytes': maxBytes,
      'x-patterns': names,
      'x-key-pattern': key,
      'x-ignored': ignored,
      ...rest
    } = schema as Declared;
    const { format, items, properties, additionalProperties, ...standard } = rest;
    // The formats `json` and `page-size` have no case here, because only our codecs use them.
    switch (format) {
      case 'byte':
        // Four base64 characters encode three bytes, and padding is optional.
        return {
          ...standard,
          ...(minBytes && { minLength: Math.ceil((minBytes * 4) / 3) }),
          ...(maxBytes && { maxLength: Math.ceil(maxBytes / 3) * 4 }),
        };
      case 'sha256':
        return { ...standard, contentEncoding: 'base64', minLength: 43, maxLength: 64 };
      case 'uint64':
        return { ...standard, format, minimum: 0, pattern: '^(?:0|[1-9][0-9]{0,19})$' };
      case 'date-time':
        return { ...standard, format };
      case 'resource-name':
        return { ...standard, ...nameSchema(names!) };
      case 'chosen-id':
        return { ...standard, pattern: `^${ID_PATTERN}$` };
      case 'attribute-name':
        return { ...standard, pattern: ATTRIBUTE_NAME_PATTERN, maxLength: MAX_ATTRIBUTE_NAME };
      case 'map': {
        const propertyNames = { ...standard.propertyNames, ...nameSchema([key!]) };
        return {
          ...standard,
          propertyNames,
          additionalProperties: this.print(additionalProperties as TSchema),
        };
      }
    }
    if (items !== undefined) return { ...standard, items: this.print(items) };
    if (properties === undefined) {
      if (standard.minLength === 0) delete standard.minLength;
      return standard;
    }
    const printed = Object.entries(properties).map(([name, member]) => [name, this.print(member)] as const);
    // A caller may send the ignored properties, so the schema must list them. `readOnly` says that they have no effect.
    const readOnly = (ignored ?? []).map((name) => [name, { readOnly: true }] as const);
    return {
      ...standard,
      properties: Object.fromEntries([...printed, ...readOnly]),
      additionalProperties: false,
    };
  }
}

function nameSchema(patterns: PatternName[]): JsonSchema {
  const alternatives = patterns.map((name) => PATTERNS[name].replace(/\{\w+\}/g, ID_PATTERN));
  return {
    pattern: alternatives.length === 1 ? `^${alternatives[0]}$` : `^(?:${alternatives.join('|')})$`,
    examples: [PATTERNS[patterns[0]!].replace(/\{(\w+)\}/g, (_, variable: string) => exampleId(variable))],
  };
}

/** Returns an example ID for a path variable, such as `dp1` for `dataProvider`. */
export function exampleId(variable: string): string {
  return `${variable[0]}${variable.replace(/[^A-Z]/g, '').toLowerCase()}1`;
}

/** Converts a name to PascalCase, such as `BodyTooLarge` for `bodyTooLarge` and for `body_too_large`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
