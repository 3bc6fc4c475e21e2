/** Checks whether another duchy is running. */
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { PeerAddress } from './address.ts';

const HEALTH_MS = 5_000;

export async function requireHealthy({ url, lookup }: PeerAddress): Promise<void> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const signal = AbortSignal.timeout(HEALTH_MS);
  const options = { agent: false, signal, ...(lookup && { lookup }) };
  const sending = request(new URL('/healthz', url), options).end();
  const [response] = (await once(sending, 'response').catch((error: NodeJS.ErrnoException) => {
    const why = signal.aborted ? `no response in ${HEALTH_MS / 1000} s` : error.message || error.code;
    throw new Error(String(why), { cause: error });
  })) as [IncomingMessage];
  response.destroy();
  if (response.statusCode !== 200)
    throw new Error(`HTTP ${response.statusCode} instead of the health of a duchy`);
}
