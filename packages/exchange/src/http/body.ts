/** The bytes of a request body. */
import type { IncomingMessage } from 'node:http';
import { ExchangeError } from '@measurement-exchange/contract';

const FIRST_BYTES = 16 * 1024;
/** Of one principal at a time: sixteen bodies of the default limit. */
const MAX_HELD = 64 * 1024 * 1024;

/** What the bodies of each principal hold of the memory. */
export class BodyMemory {
  private readonly held = new Map<string, number>();

  /** False where it would be too much. */
  take(principal: string, bytes: number): boolean {
    const held = (this.held.get(principal) ?? 0) + bytes;
    if (held > MAX_HELD) return false;
    this.held.set(principal, held);
    return true;
  }

  release(principal: string, bytes: number): void {
    const held = this.held.get(principal)! - bytes;
    if (held === 0) this.held.delete(principal);
    else this.held.set(principal, held);
  }
}

/**
 * At most `limit` bytes, in one buffer that grows as they come. Fastify's own reader keeps every chunk until the
 * last one: 2.3 MB sent in chunks of one byte held 580 MB. Here a chunk is copied and let go. What the buffer takes
 * beyond the size of most bodies is announced to `grow`, which may throw.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  grow: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => new ExchangeError('BODY_TOO_LARGE', 'The body is above the size limit.');
    if (Number(request.headers['content-length'] ?? 0) > limit) return reject(tooLarge());
    let bytes = Buffer.allocUnsafe(FIRST_BYTES);
    let size = 0;
    const refuse = (error: unknown) => {
      request.off('data', take);
      reject(error);
    };
    const take = (chunk: Buffer) => {
      const needed = size + chunk.length;
      if (needed > limit) return refuse(tooLarge());
      if (needed > bytes.length) {
        const length = Math.max(needed, bytes.length * 2);
        try {
          grow(length - bytes.length);
        } catch (error) {
          return refuse(error);
        }
        const larger = Buffer.allocUnsafe(length);
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      chunk.copy(bytes, size);
      size = needed;
    };
    request.on('data', take);
    request.once('end', () => resolve(bytes.subarray(0, size)));
    request.once('error', (cause) =>
      reject(new ExchangeError('MALFORMED_REQUEST', 'The body ended too early.', { cause })),
    );
  });
}
