/** Checks data while it is being received. A failed check throws, so that nothing is stored. */
import { createHash } from 'node:crypto';
import { equalBytes } from '@measurement-exchange/contract';
import { mismatch } from '../computations/rejections.ts';

/** The digest and length that the sender signed. `part` is the name of the JSON part that contains them. */
export interface Announced {
  part: string;
  sha256: Uint8Array;
  length: number;
}

/** Yields the data unchanged. Throws if its length or digest differs from what the sender signed. */
export async function* asAnnounced(
  data: AsyncIterable<Uint8Array>,
  { part, sha256, length }: Announced,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let received = 0;
  for await (const chunk of data) {
    received += chunk.length;
    if (received > length) throw mismatch('data', `is longer than the ${length} bytes of ${part}.dataLength`);
    hash.update(chunk);
    yield chunk;
  }
  if (received < length) {
    throw mismatch('data', `has ${received} bytes, fewer than the ${length} of ${part}.dataLength`);
  }
  if (!equalBytes(hash.digest(), sha256))
    throw mismatch('data', `does not have the SHA-256 of ${part}.dataSha256`);
}

/**
 * Reads the data to the end, so that the checks in `asAnnounced` run. Stores nothing, because the same data is already
 * stored.
 */
export async function discard(data: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of data);
}
