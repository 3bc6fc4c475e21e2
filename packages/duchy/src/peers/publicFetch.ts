import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isPublicAddress } from '@measurement-exchange/contract';
import { publicOnly } from '@measurement-exchange/sdk/endpoints';

/** What is sent to another duchy. */
export interface PeerRequest {
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}

/**
 * Posts to an endpoint that the exchange named: to public addresses alone, each time over a connection of its own. The fetch
 * of Node cannot say which addresses it connects to. Redirects are not followed.
 */
export async function fetchPublic(
  url: URL,
  { headers, body, signal }: PeerRequest,
  isAllowed = isPublicAddress,
): Promise<Response> {
  const checked = publicOnly(url, isAllowed);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers, signal, agent: false, ...checked }, resolve);
    sending.on('error', reject);
    pipeline(Readable.from(body, { objectMode: false }), sending, { signal }).catch(reject);
  });
  const status = response.statusCode!;
  const hasBody = ![204, 205, 304].includes(status);
  return new Response(hasBody ? (Readable.toWeb(response) as ReadableStream) : null, { status });
}
