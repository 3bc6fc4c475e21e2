/** Compresses pages for clients that accept gzip. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

const compress = promisify(gzip);

/** Matches an Accept-Encoding header that allows gzip. `q=0` forbids an encoding. */
const ACCEPTS_GZIP = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i;

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
  if (!ACCEPTS_GZIP.test(request.headers['accept-encoding'] ?? '')) {
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
