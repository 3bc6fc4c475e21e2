/** Creates sample values for schemas of the contract, for tests of every row of the routes table. */
import { type Keywords, MAX_UINT64, PATTERNS, type TSchema } from '@measurement-exchange/contract';

export const ID = 'an_ID-1';

/** Fills in the IDs of a path or of a name pattern. */
export const withIds = (pattern: string) => pattern.replace(/\{\w+\}/g, ID);

/** Returns a value with every member of the schema, in the form that client methods take and return. */
export function sampleOf(schema: TSchema): unknown {
  const keywords = schema as Keywords;
  switch (keywords.format) {
    case 'json':
      return { any: ['JSON', true] };
    case 'map': {
      const pattern = keywords['x-key-pattern'];
      const key = pattern === undefined ? 'key' : withIds(PATTERNS[pattern]);
      return { [key]: sampleOf(keywords.additionalProperties as TSchema) };
    }
    case 'byte':
      return new Uint8Array(Math.max(3, keywords['x-min-bytes'] ?? 0)).fill(255);
    case 'sha256':
      return new Uint8Array(32).fill(254);
    case 'uint64':
      return MAX_UINT64;
    case 'page-size':
      return 7;
    case 'date-time':
      return '2026-11-15T08:00:00.000001Z';
    case 'resource-name':
      return withIds(PATTERNS[keywords['x-patterns']![0]!]);
    case 'chosen-id':
      return ID;
    case 'attribute-name':
      return 'ad.format';
  }
  if (keywords.enum !== undefined) return keywords.enum.at(-1);
  switch (keywords.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(keywords.properties!).map(([name, member]) => [name, sampleOf(member)]),
      );
    case 'array':
      return Array.from({ length: Math.max(2, keywords.minItems ?? 0) }, () => sampleOf(keywords.items!));
    case 'string':
      return 'ä &+=%"\\'.padEnd(keywords.minLength ?? 0).slice(0, keywords.maxLength);
    case 'number':
      return 0.5;
    case 'integer':
      return keywords.maximum;
    case 'boolean':
      return true;
    default:
      throw new Error(`no sample of ${JSON.stringify(schema)}`);
  }
}
