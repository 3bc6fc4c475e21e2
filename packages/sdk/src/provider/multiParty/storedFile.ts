/** Stores an upload's data in a file. The file gets its final name only when all data is on disk. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface StoredFile {
  sha256: Uint8Array;
  /** The length of the file in bytes. */
  length: number;
}

/**
 * Writes the chunks to the file. All calls are synchronous, because they run in a worker thread that has nothing else
 * to do.
 */
export function storeFile(file: string, chunks: Iterable<Uint8Array>): StoredFile {
  const hash = createHash('sha256');
  const part = `${file}.part`;
  const descriptor = openSync(part, 'w', 0o600);
  let length = 0;
  try {
    for (const chunk of chunks) {
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
      length += chunk.length;
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(part, file);
  const directory = openSync(dirname(file), 'r');
  fsyncSync(directory);
  closeSync(directory);
  return { sha256: new Uint8Array(hash.digest()), length };
}
