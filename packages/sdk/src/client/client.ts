/** A client for the exchange, with one method for each operation in the routes table. */
import { type Keywords, type Operation, ROUTES, type Route } from '@measurement-exchange/contract';
import { type Clock, systemClock } from './clock.ts';
import { createListing } from './listing.ts';
import { type CallArguments, prepareCall } from './request.ts';
import { type Sender, send } from './send.ts';
import type { ExchangeClient } from './types.ts';
import { type WatchArguments, type Watching, watch } from './watch.ts';

/** Options for `createClient`. */
export interface ClientOptions {
  /** The exchange's address, such as `https://exchange.example.com`, without `/v2alpha`. */
  baseUrl: string;
  /**
   * The bearer token, or a function that returns it. The function is called before every attempt, and again after a
   * 401.
   */
  token: string | (() => string | Promise<string>);
  fetch?: typeof fetch;
  clock?: Clock;
  /** The timeout for each attempt; 30 s by default. */
  timeoutMs?: number;
  /** The maximum number of attempts; 5 by default. With 1, calls are never retried. */
  maxAttempts?: number;
  /** The maximum response length; 96 MiB by default, which is more than the largest batch that an exchange returns. */
  maxResponseBytes?: number;
  /** The User-Agent header; omit it in a browser. */
  userAgent?: string;
  /**
   * Called once if an intermediary, such as a proxy, breaks the streams that `watch` reads. `watch` then reads pages
   * instead.
   */
  onWarning?: (message: string) => void;
}

/**
 * Creates a client for the exchange at `baseUrl`. The client retries every rate-limited call, unless the exchange asks
 * it to wait longer than 60 seconds. After a dropped connection, a timeout, or UNAVAILABLE, the client retries a call
 * if that is safe: reads are safe, and so are creates (each has a requestId) and changes with an etag. A retried change
 * fails with ABORTED if its first attempt took effect, so read the resource again in that case (see `retryOnAborted`).
 * Any other change is sent only once. If its response is lost, read the resource to find out whether the change took
 * effect.
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
    // Attempt each request of a watch only once, because the watch retries by itself.
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
  const { properties = {}, required = [] } = routes[0]!.response as Keywords;
  // If `nextPageToken` is optional, the list has a last page, and the method returns a listing of its items. If the
  // token is required, as in the list of changes, every page has a next page, so callers read page by page.
  const isList = Object.hasOwn(properties, 'nextPageToken') && !required.includes('nextPageToken');
  if (!isList) return (args: CallArguments = {}) => call(args);
  return (args: CallArguments = {}) =>
    createListing(
      (pageToken) => call(pageToken === undefined ? args : { ...args, pageToken }) as Promise<object>,
    );
}

const CALLS = (ROUTES as readonly Route[]).filter(({ streams }) => !streams);
const STREAMS = (ROUTES as readonly Route[]).filter(({ streams }) => streams);

function validUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.search + url.hash !== ''
  ) {
    const shown = baseUrl.replace(/\/\/.*@/, '//…@');
    throw new TypeError(`baseUrl: must be the http or https address of an exchange, and is ${shown}`);
  }
  return url.href.replace(/\/+$/, '');
}
