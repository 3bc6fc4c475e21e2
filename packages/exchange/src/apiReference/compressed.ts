/** Compresses pages for clients that accept gzip. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

const compress = promisify(gzip);

/**
 * Caches compressed pages by their text. The text contains the exchange's address, so a page has one entry per address.
 */
const kept = new LRUCache<string, Promise<Buffer>>({ max: 8 });

export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<void> {
  const vary = [reply.getHeader('vary'), 'accept-encoding'].filter((name) => name !== undefined);
  reply.header('vary', vary.join(', '));
  if (!acceptsGzip(request.headers['accept-encoding'] ?? '')) {
    await reply.send(text);
    return;
  }
  let bytes = kept.get(text);
  if (bytes === undefined) {
    bytes = compress(text);
    kept.set(text, bytes);
  }
  await reply.header('content-encoding', 'gzip').send(await bytes);
}

/**
 * Returns whether an Accept-Encoding header allows gzip. If the header does not name gzip, the entry for `*` decides.
 * `q=0` forbids an encoding.
 */
function acceptsGzip(header: string): boolean {
  const encodings = header.split(',').map((one) => one.split(';').map((part) => part.trim().toLowerCase()));
  const named = encodings.find(([name]) => name === 'gzip') ?? encodings.find(([name]) => name === '*');
  return named !== undefined && !named.slice(1).some((weight) => /^q=0(\.0*)?$/.test(weight));
}
