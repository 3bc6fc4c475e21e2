/** Runs jobs that need the schemas of event group metadata. */
import type { Missing, SchemaSource } from '../../compute/jobs.ts';
import type { Queryable } from '../../database/db.ts';
import { getDescriptors } from '../../database/descriptors.ts';

/**
 * Runs a job with `schemas`, which need not contain the descriptor sets. If a descriptor set is neither in `schemas`
 * nor in the cache of the thread that runs the job, loads all descriptor sets and runs the job again.
 */
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
  // Use the versions that were just read, because a descriptor may have changed since the first run.
  const given = found.map(({ id, version, descriptorSet: set }) => ({ id, version, bytes: set.length, set }));
  return (await run(given)) as T;
}

function isMissing(output: object | undefined): output is Missing {
  return output !== undefined && 'missing' in output;
}

export const UNLINKABLE =
  'has google/protobuf files that differ from those of the exchange, or too long a chain of message types';
