/** Checks of bytes while they pass. A check that fails throws, and the writer keeps nothing. */
import { createHash } from 'node:crypto';
import { equalBytes } from '@measurement-exchange/contract';
import { mismatch } from './errors.ts';

/** The digest and length that the sender signed, in the JSON part of this name. */
export interface Announced {
  part: string;
  sha256: Uint8Array;
  length: number;
}

/** Passes the bytes on; throws unless they have the announced length and digest. */
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

/** The serialized FrequencyVector up to its first value: field 1, packed, one byte for each value. */
export function vectorHeader(registerCount: number): Uint8Array {
  const header = [0x0a];
  let rest = registerCount;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) header.push((rest % 0x80) | 0x80);
  header.push(rest);
  return Uint8Array.from(header);
}

/** Passes the bytes on; throws unless they are a FrequencyVector of that many values below the modulus. */
export async function* asShares(
  data: AsyncIterable<Uint8Array>,
  { registerCount, modulus }: { registerCount: number; modulus: number },
): AsyncGenerator<Uint8Array> {
  const header = vectorHeader(registerCount);
  let at = 0;
  for await (const chunk of data) {
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      const position = at + i;
      if (position < header.length) {
        if (byte !== header[position]) {
          throw mismatch('data', `must be a FrequencyVector of ${registerCount} values in one packed field`);
        }
      } else if (byte >= modulus) {
        throw mismatch(
          'data',
          `has a value at register ${position - header.length} that is not below ${modulus}`,
        );
      }
    }
    at += chunk.length;
    yield chunk;
  }
}

/** Checks bytes that are already stored, and drops them. */
export async function discard(data: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of data);
}
