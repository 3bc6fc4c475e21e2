import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface PeerRequest {
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}

/**
 * Sends a POST request without following redirects. Replaces `fetch`, which has no `lookup` option to check the
 * resolved address.
 */
export async function post(
  url: URL,
  { headers, body, signal }: PeerRequest,
  { lookup }: { lookup: LookupFunction },
): Promise<Response> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers, signal, agent: false, lookup }, resolve);
    sending.on('error', reject);
    pipeline(Readable.from(body, { objectMode: false }), sending, { signal }).catch(reject);
  });
  const status = response.statusCode!;
  const hasBody = ![204, 205, 304].includes(status);
  return new Response(hasBody ? (Readable.toWeb(response) as ReadableStream) : null, { status });
}
