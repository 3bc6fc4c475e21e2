/**
 * Sends a message to an endpoint that a party chose. Connects only to public addresses, follows no redirects, and has a
 * timeout.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf } from '@measurement-exchange/contract';
import { urlProblem } from '../domain/webhook.ts';
import type { Destinations } from './destinations.ts';

/** The timeout of the whole attempt: name lookup, connection, and response. */
export const SEND_MS = 10_000;
/**
 * The maximum size of a response. The limit is small, because only the status and the `Retry-After` header are used.
 */
const MAX_RESPONSE_BYTES = 16 * 1024;
/** The maximum number of interim responses, such as 103 Early Hints. */
const MAX_INTERIM = 5;
/** The timeout of the first try of a DNS query, in milliseconds. The resolver chooses the timeout of the second try. */
const QUERY = { timeout: 1_000, tries: 2 };

/**
 * The result of an attempt. `status` is undefined if the endpoint did not respond. `waitMs` is set only if a rate limit
 * prevented the attempt, and is the time to wait before the next attempt.
 */
export interface Outcome {
  status: number | undefined;
  /** The reason why there was no response, as text for the webhook's owner. */
  error: string | undefined;
  retryAfter: string | undefined;
  milliseconds: number;
  waitMs?: number;
}

export interface Message {
  party: string;
  url: string;
  headers: Record<string, string>;
  payload: string;
}

/** Sends the message and returns the outcome. Never throws. */
export async function send(
  message: Message,
  destinations: Destinations,
  signal: AbortSignal,
): Promise<Outcome> {
  const started = performance.now();
  const done = (response: Response | undefined, error?: string): Outcome => ({
    status: response?.status,
    error,
    retryAfter: response?.retryAfter,
    milliseconds: Math.round(performance.now() - started),
  });
  const problem = urlProblem(message.url, destinations.isDevelopment);
  if (problem !== undefined) return done(undefined, `the URL ${problem}`);
  const timeout = AbortSignal.timeout(SEND_MS);
  const enter = gate(destinations, message.party);
  try {
    const host = hostOf(new URL(message.url));
    // Node does not call `lookup` for an IP address, so check the address here.
    if (isIP(host) !== 0) enter([{ address: host, family: isIP(host) }]);
    return done(await post(message, enter, AbortSignal.any([timeout, signal])));
  } catch (error) {
    if (error instanceof Crowded) return { ...done(undefined), waitMs: error.waitMs };
    if (timeout.aborted) return done(undefined, `no response within ${SEND_MS / 1000} seconds`);
    return done(undefined, describe(error as NodeJS.ErrnoException));
  }
}

/** Checks the addresses and counts the delivery. Throws if connecting to these addresses is not allowed now. */
type Gate = (addresses: LookupAddress[]) => void;

function gate(destinations: Destinations, party: string): Gate {
  return (addresses) => {
    if (addresses.length === 0 || addresses.some(({ address }) => !destinations.isPublic(address))) {
      throw new Refusal('the host name has an address that is not public');
    }
    if (addresses.some(({ address }) => destinations.isDenied(address))) {
      throw new Refusal('the operator of the exchange denies this network');
    }
    // The connection may be to any of the addresses.
    const waitMs = destinations.take(
      party,
      addresses.map(({ address }) => address),
    );
    if (waitMs > 0) throw new Crowded(waitMs);
  };
}

type Response = Required<Pick<Outcome, 'status' | 'retryAfter'>>;

function post({ url: text, headers, payload }: Message, enter: Gate, signal: AbortSignal): Promise<Response> {
  const url = new URL(text);
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      // Use a new connection for each message. A kept connection would skip the lookup, which checks the address and
      // the rate limit.
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
        'user-agent': 'measurement-exchange-webhooks',
      },
      lookup: checkedLookup(enter, signal),
      maxHeaderSize: MAX_RESPONSE_BYTES,
      signal,
    });
    sent.on('error', reject);
    // Reject when the connection closes without a response. For example, Node emits neither a response nor an error for
    // 101 Switching Protocols.
    const closed = () => reject(new Refusal(CLOSED));
    sent.on('close', closed);
    let interim = 0;
    sent.on('information', () => {
      interim += 1;
      if (interim <= MAX_INTERIM) return;
      reject(new Refusal('there were too many interim responses'));
      sent.destroy();
    });
    sent.on('response', (response) => {
      // From now on, ignore `close`, because the connection may close before the rest of the response has been read.
      sent.off('close', closed);
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

/**
 * Returns a lookup function that checks the addresses. Node connects only to these addresses, so a name cannot change
 * its address between the check and the connection.
 */
function checkedLookup(enter: Gate, signal: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    addressesOf(hostname, signal)
      .then((addresses) => {
        enter(addresses);
        return addresses;
      })
      .then(
        (addresses) => {
          if (options.all) return callback(null, addresses as never, 0);
          callback(null, addresses[0]!.address, addresses[0]!.family);
        },
        (error) => callback(error, '', 0),
      );
  };
}

/**
 * Resolves a host name. Does not use `dns.lookup`, because an unresponsive name server would block the threads that all
 * lookups share.
 */
async function addressesOf(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
  // Handle `localhost` here, because a resolver should not ask a name server for it (RFC 6761).
  if (/^localhost\.?$/.test(hostname)) return LOCALHOST;
  const resolver = new Resolver(QUERY);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  signal.removeEventListener('abort', cancel);
  const failures = found.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  // One successful query is enough, because a name may have only IPv4 or only IPv6 addresses.
  if (failures.length < found.length) {
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    return addresses.map((address) => ({ address, family: isIP(address) }));
  }
  const isUnknown = failures.every(({ reason }) => ['ENOTFOUND', 'ENODATA'].includes(reason.code));
  throw new Refusal(isUnknown ? 'the host name is not known' : 'the host name could not be looked up');
}

const LOCALHOST = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

class Refusal extends Error {}

class Crowded extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super();
    this.waitMs = waitMs;
  }
}

const CLOSED = 'the connection was closed before a response';
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: CLOSED,
  EHOSTUNREACH: 'the host is out of reach',
  ENETUNREACH: 'the host is out of reach',
  HPE_HEADER_OVERFLOW: 'the response headers are too long',
};

/** Explains the error to the webhook's owner, without revealing the addresses of a host name. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof Refusal) return error.message;
  const code = error.code ?? '';
  if (REASONS[code] !== undefined) return REASONS[code];
  const isTls = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/.test(code);
  return isTls ? `the TLS connection failed (${code})` : 'the connection failed';
}
