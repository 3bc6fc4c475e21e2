/** The schemas of readable metadata, compiled once for many messages. */
import type { Queryable } from '../../database/db.ts';
import { getDescriptors } from '../../database/descriptors.ts';
import { compileSchema, type MetadataSchema } from '../../domain/metadata/schema.ts';

/** By descriptor ID; undefined where the exchange cannot link the set. */
export type Schemas = Map<string, MetadataSchema | undefined>;

/**
 * A cache of compiled schemas, the last used at the end. Linking a set takes milliseconds, and up to a hundred times its
 * bytes: the cached sets sum up to 2 MiB at most. IDs are random and each update raises the version, so an entry is never
 * out of date.
 */
const compiled = new Map<string, { schema: MetadataSchema | undefined; bytes: number }>();
const MAX_COMPILED_BYTES = 2 * 1024 * 1024;

export async function schemasOf(
  db: Queryable,
  descriptors: { id: string; version: number }[],
): Promise<Schemas> {
  const schemas: Schemas = new Map();
  for (const { id, version } of descriptors) {
    const key = `${id} ${version}`;
    const cached = compiled.get(key);
    if (cached !== undefined) {
      compiled.delete(key);
      compiled.set(key, cached);
      schemas.set(id, cached.schema);
      continue;
    }
    // One after the other: a batch may name fifty sets of 1 MiB.
    const [descriptor] = await getDescriptors(db, [id]);
    if (descriptor !== undefined) schemas.set(id, compile(descriptor));
  }
  return schemas;
}

function compile(descriptor: { id: string; version: number; descriptorSet: Uint8Array }) {
  const schema = compileSchema(descriptor.descriptorSet);
  compiled.set(`${descriptor.id} ${descriptor.version}`, { schema, bytes: descriptor.descriptorSet.length });
  let bytes = 0;
  for (const entry of compiled.values()) bytes += entry.bytes;
  for (const [key, entry] of compiled) {
    if (bytes <= MAX_COMPILED_BYTES) break;
    compiled.delete(key);
    bytes -= entry.bytes;
  }
  return schema;
}

export const UNLINKABLE = 'carries google/protobuf files that differ from those of the exchange';
