/** The client of an exchange: one method for each operation of the routes table. */
import { type Operation, ROUTES, type Route } from '@measurement-exchange/contract';
import { type Clock, systemClock } from './clock.ts';
import { createListing } from './listing.ts';
import { type CallArguments, prepareCall } from './request.ts';
import { type Sender, send } from './send.ts';
import type { ExchangeClient } from './types.ts';

/** Which exchange a client calls, as whom, and how patiently. */
export interface ClientOptions {
  /** Where the exchange is: `https://exchange.example.com`, without `/v2alpha`. */
  baseUrl: string;
  /** The bearer token, or where to get it. A function is asked for every attempt, and once more after a 401. */
  token: string | (() => string | Promise<string>);
  fetch?: typeof fetch;
  /** The clock of the waits between attempts. */
  clock?: Clock;
  /** How long one attempt may take; 30 s unless given. */
  timeoutMs?: number;
  /** How often a call is sent at most; 5 unless given, 1 to never repeat one. */
  maxAttempts?: number;
  /** Sent where the platform lets a program say it; leave it out in a browser. */
  userAgent?: string;
}

/**
 * A client of the exchange at `baseUrl`. A call that a request limit refuses is sent again. One that fails for want of
 * an answer (lost connection, timeout, UNAVAILABLE) is sent again where that is safe: reads, creates (each has a
 * requestId, and every attempt the same bytes) and changes that carry an etag. Such a change may be ABORTED because
 * its own first attempt took effect: read the resource again, see `retryOnAborted`. Every other change is sent once;
 * after such a failure read the resource to learn whether it took effect.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://exchange.example.com', token: () => freshToken() });
 * for await (const requisition of client.listRequisitions({ parent: 'dataProviders/streamly' })) …
 */
export function createClient(options: ClientOptions): ExchangeClient {
  const sender: Sender = {
    baseUrl: checkedUrl(options.baseUrl),
    token: options.token,
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    clock: options.clock ?? systemClock,
    timeoutMs: options.timeoutMs ?? 30_000,
    maxAttempts: options.maxAttempts ?? 5,
    userAgent: options.userAgent,
  };
  const routes = Map.groupBy<Operation, Route>(ROUTES, (route) => route.operation as Operation);
  const methods = [...routes].map(([operation, rows]) => [operation, methodOf(sender, rows)]);
  return Object.freeze(Object.fromEntries(methods)) as ExchangeClient;
}

function methodOf(sender: Sender, routes: readonly Route[]) {
  const call = async (args: CallArguments) => send(sender, prepareCall(routes, args), args.signal);
  const { properties } = routes[0]!.response as unknown as { properties: object };
  if (!Object.hasOwn(properties, 'nextPageToken')) return (args: CallArguments = {}) => call(args);
  return (args: CallArguments = {}) =>
    createListing(
      (pageToken) => call(pageToken === undefined ? args : { ...args, pageToken }) as Promise<object>,
    );
}

function checkedUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.search + url.hash !== ''
  ) {
    throw new TypeError(`baseUrl: must be the http or https address of an exchange, and is ${baseUrl}`);
  }
  return url.href.replace(/\/+$/, '');
}
