/** The schemas of readable metadata, as jobs take them. */
import type { Missing, SchemaSource } from '../../compute/jobs.ts';
import type { Queryable } from '../../database/db.ts';
import { getDescriptors } from '../../database/descriptors.ts';

/** Runs a job, a second time with the descriptor sets where they were not compiled yet. */
export async function withSchemas<T extends object | undefined>(
  db: Queryable,
  schemas: SchemaSource[],
  run: (schemas: SchemaSource[]) => Promise<T | Missing>,
): Promise<T> {
  const first = await run(schemas);
  if (!isMissing(first)) return first;
  const found = await getDescriptors(
    db,
    schemas.map(({ id }) => id),
  );
  // They may have changed meanwhile.
  const given = found.map(({ id, version, descriptorSet: set }) => ({ id, version, bytes: set.length, set }));
  return (await run(given)) as T;
}

function isMissing(output: object | undefined): output is Missing {
  return output !== undefined && 'missing' in output;
}

export const UNLINKABLE =
  'carries google/protobuf files that differ from those of the exchange, or has too long a chain of message types';
