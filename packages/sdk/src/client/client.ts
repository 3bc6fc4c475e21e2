/** The client of an exchange: one method for each operation of the routes table. */
import { type Operation, ROUTES, type Route } from '@measurement-exchange/contract';
import { type Clock, systemClock } from './clock.ts';
import { createListing } from './listing.ts';
import { type CallArguments, prepareCall } from './request.ts';
import { type Sender, send } from './send.ts';
import type { ExchangeClient } from './types.ts';
import { type WatchArguments, type Watching, watch } from './watch.ts';

/** The address of the exchange, the caller's token, and the limits on time and attempts. */
export interface ClientOptions {
  /** The address of the exchange: `https://exchange.example.com`, without `/v2alpha`. */
  baseUrl: string;
  /** The bearer token, or a function that returns it, called for every attempt and once more after a 401. */
  token: string | (() => string | Promise<string>);
  fetch?: typeof fetch;
  /** The clock of the backoff between attempts. */
  clock?: Clock;
  /** The timeout of one attempt; 30 s by default. */
  timeoutMs?: number;
  /** The maximum number of attempts; 5 by default, 1 to never retry. */
  maxAttempts?: number;
  /** The longest response that is read; 96 MiB by default, above the largest batch of an exchange. */
  maxResponseBytes?: number;
  /** The User-Agent header; leave it out in a browser. */
  userAgent?: string;
  /** Called once when something between here and the exchange breaks the streams of `watch`, which then reads pages. */
  onWarning?: (message: string) => void;
}

/**
 * A client of the exchange at `baseUrl`. A rate-limited call is retried. A call without a response (lost connection,
 * timeout, UNAVAILABLE) is retried where that is safe: reads, creates (each has a requestId, and every attempt sends
 * the same bytes) and changes that carry an etag. Such a change may be ABORTED because its own first attempt took
 * effect: read the resource again, see `retryOnAborted`. Every other change is sent once; after such a failure, read
 * the resource to learn whether it took effect.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://exchange.example.com', token: () => freshToken() });
 * for await (const requisition of client.listRequisitions({ parent: 'dataProviders/streamly' })) …
 */
export function createClient(options: ClientOptions): ExchangeClient {
  const sender: Sender = {
    baseUrl: validUrl(options.baseUrl),
    token: options.token,
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    clock: options.clock ?? systemClock,
    timeoutMs: options.timeoutMs ?? 30_000,
    maxAttempts: options.maxAttempts ?? 5,
    maxResponseBytes: options.maxResponseBytes ?? 96 * 1024 * 1024,
    userAgent: options.userAgent,
  };
  const routes = Map.groupBy<Operation, Route>(CALLS, (route) => route.operation as Operation);
  const methods = [...routes].map(([operation, rows]) => [operation, methodOf(sender, rows)]);
  const watching: Watching = {
    // A watch continues after any number of failures, and decides for itself what to try next.
    sender: { ...sender, maxAttempts: 1 },
    pages: routes.get('listChanges')!,
    streams: STREAMS,
    pagesUntil: 0,
    onWarning: options.onWarning ?? (() => {}),
  };
  const follow = (args: WatchArguments) => watch(watching, args);
  return Object.freeze({ ...Object.fromEntries(methods), watch: follow }) as ExchangeClient;
}

function methodOf(sender: Sender, routes: readonly Route[]) {
  const call = async (args: CallArguments) => send(sender, prepareCall(routes, args), args.signal);
  const { properties, required = [] } = routes[0]!.response as unknown as Page;
  // Where there always is a next page, the caller asks for each.
  const isList = Object.hasOwn(properties, 'nextPageToken') && !required.includes('nextPageToken');
  if (!isList) return (args: CallArguments = {}) => call(args);
  return (args: CallArguments = {}) =>
    createListing(
      (pageToken) => call(pageToken === undefined ? args : { ...args, pageToken }) as Promise<object>,
    );
}

/** A stream is not a call. */
const CALLS = (ROUTES as readonly Route[]).filter(({ streams }) => !streams);
const STREAMS = (ROUTES as readonly Route[]).filter(({ streams }) => streams);

interface Page {
  properties: object;
  required?: string[];
}

function validUrl(baseUrl: string): string {
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
