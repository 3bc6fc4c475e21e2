/** Sends one message to an endpoint that somebody else chose: to no address of ours, no redirects, little time. */
import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isAllowed, urlProblem } from '../domain/webhook.ts';

/** For everything: the name, the connection, the response. */
export const SEND_MS = 10_000;
/** Of the response only the status counts. */
const MAX_RESPONSE_BYTES = 16 * 1024;

/** How an attempt ended: with a status, or without a response. */
export interface Outcome {
  status: number | undefined;
  /** Why there was no response, in words for the owner of the webhook. */
  error: string | undefined;
  /** The header `Retry-After` of the response. */
  retryAfter: string | undefined;
  milliseconds: number;
}

export interface Message {
  url: string;
  headers: Record<string, string>;
  payload: string;
}

/** Never throws. `isDevelopment`: http, and this machine, are allowed. */
export async function send(message: Message, isDevelopment: boolean, signal: AbortSignal): Promise<Outcome> {
  const started = performance.now();
  const done = (response: Response | undefined, error?: string): Outcome => ({
    status: response?.status,
    error,
    retryAfter: response?.retryAfter,
    milliseconds: Math.round(performance.now() - started),
  });
  // Node looks up names only: an address is checked here.
  const problem = urlProblem(message.url, isDevelopment);
  if (problem !== undefined) return done(undefined, `the URL ${problem}`);
  const timeout = AbortSignal.timeout(SEND_MS);
  try {
    return done(await post(message, isDevelopment, AbortSignal.any([timeout, signal])));
  } catch (error) {
    if (timeout.aborted) return done(undefined, `no response within ${SEND_MS / 1000} seconds`);
    return done(undefined, describe(error as NodeJS.ErrnoException));
  }
}

type Response = Required<Pick<Outcome, 'status' | 'retryAfter'>>;

function post(
  { url: text, headers, payload }: Message,
  isDevelopment: boolean,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(text);
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      // A connection of its own: one that was checked is not used for another name later.
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
        'user-agent': 'measurement-exchange-webhooks',
      },
      lookup: checkedLookup(isDevelopment),
      maxHeaderSize: MAX_RESPONSE_BYTES,
      signal,
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let received = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received <= MAX_RESPONSE_BYTES) return;
        reject(new Refusal('the response is longer than 16 KiB'));
        sent.destroy();
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'] }),
      );
    });
    sent.end(payload);
  });
}

/** Connects to the addresses that were checked, so that a name that changes meanwhile gains nothing. */
function checkedLookup(isDevelopment: boolean): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const isBad =
        addresses.length === 0 || addresses.some(({ address }) => !isAllowed(address, isDevelopment));
      if (isBad) return callback(new Refusal('the name stands for an address that is not public'), '', 0);
      if (options.all) return callback(null, addresses as never, 0);
      callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

class Refusal extends Error {}

const REASONS: Record<string, string> = {
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before a response',
  EHOSTUNREACH: 'the host is out of reach',
  ENETUNREACH: 'the host is out of reach',
  HPE_HEADER_OVERFLOW: 'the response headers are too long',
};

/** Only what the owner may know: no address that a name stands for. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof Refusal) return error.message;
  const code = error.code ?? '';
  if (REASONS[code] !== undefined) return REASONS[code];
  const isTls = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/.test(code);
  return isTls ? `the TLS connection failed (${code})` : 'the connection failed';
}
