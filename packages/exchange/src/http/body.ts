/** Reads request bodies within memory limits. */
import type { IncomingMessage } from 'node:http';
import { ExchangeError } from '@measurement-exchange/contract';

const NOTHING = Buffer.alloc(0);
const FIRST_BYTES = 16 * 1024;

/**
 * Reads the body into one growing buffer. Before each growth beyond 16 KiB, calls `grow` with the number of
 * additional bytes. If `grow` throws, the promise rejects. This function replaces Fastify's reader, which keeps every
 * chunk: 2.3 MB sent in chunks of one byte took 580 MB of memory.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  grow: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => new ExchangeError('BODY_TOO_LARGE', 'The body is above the size limit.');
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > limit) return reject(tooLarge());
    let bytes: Buffer = NOTHING;
    let size = 0;
    let held = FIRST_BYTES;
    const hold = (length: number) => {
      if (length <= held) return;
      grow(length - held);
      held = length;
    };
    const refuse = (error: unknown) => {
      request.off('data', take);
      reject(error);
    };
    const take = (chunk: Buffer) => {
      const needed = size + chunk.length;
      if (needed > limit) return refuse(tooLarge());
      try {
        // Use the chunk itself if it is the whole body. Most bodies arrive in one chunk, which then needs no copy.
        if (chunk.length === announced) {
          hold(needed);
          bytes = chunk;
        } else {
          if (needed > bytes.length) {
            const length = Math.max(needed, FIRST_BYTES, bytes.length * 2);
            hold(length);
            bytes = Buffer.concat([bytes.subarray(0, size)], length);
          }
          chunk.copy(bytes, size);
        }
        size = needed;
      } catch (error) {
        refuse(error);
      }
    };
    request.on('data', take);
    request.once('end', () => resolve(bytes.subarray(0, size)));
    request.once('error', (cause) =>
      reject(new ExchangeError('MALFORMED_REQUEST', 'The body ended too early.', { cause })),
    );
  });
}
