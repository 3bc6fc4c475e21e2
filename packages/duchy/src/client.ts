/** The exchange client that all parts of a duchy share. It caches certificates and counts failed calls. */
import { type Certificate, ExchangeError } from '@measurement-exchange/contract';
import { type ExchangeClient, Unreachable } from '@measurement-exchange/sdk/client';
import { LRUCache } from 'lru-cache';
import type { Metrics } from './observability/metrics.ts';

/** How long a certificate stays in the cache. A revoked certificate may still be accepted for this long. */
const CERTIFICATE_MS = 60_000;
const MAX_CERTIFICATES = 10_000;

export function sharedClient(client: ExchangeClient, metrics: Metrics): ExchangeClient {
  const methods = Object.entries(client).map(([operation, call]) => [
    operation,
    counted(call as Call, (error) => metrics.exchangeFailure(operation, codeOf(error))),
  ]);
  return withCachedCertificates(Object.fromEntries(methods) as ExchangeClient);
}

/** Returns a client that caches certificates. Concurrent calls for one certificate share one request. */
function withCachedCertificates(client: ExchangeClient): ExchangeClient {
  const cache = new LRUCache<string, Promise<Certificate>>({
    max: MAX_CERTIFICATES,
    ttl: CERTIFICATE_MS,
    ttlResolution: 0,
  });
  return {
    ...client,
    getCertificate({ name }) {
      const known = cache.get(name);
      if (known !== undefined) return known;
      const certificate = client.getCertificate({ name });
      cache.set(name, certificate);
      // Don't cache a failure. Even after NOT_FOUND, the certificate may be created at any time.
      certificate.catch(() => {
        if (cache.peek(name) === certificate) cache.delete(name);
      });
      return certificate;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: every operation has arguments and a response of its own
type Call = (args?: any) => Promise<unknown> | AsyncIterable<unknown>;

/** Wraps a call to count failures. A listing fails only during iteration, so `countedListing` counts its failures. */
function counted(call: Call, count: (error: unknown) => void): Call {
  return (args) => {
    const called = call(args);
    if (Symbol.asyncIterator in called) return countedListing(called, count);
    called.catch(count);
    return called;
  };
}

async function* countedListing(
  listing: AsyncIterable<unknown>,
  count: (error: unknown) => void,
): AsyncGenerator<unknown> {
  try {
    yield* listing;
  } catch (error) {
    count(error);
    throw error;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof ExchangeError) return error.code;
  return error instanceof Unreachable ? 'UNREACHABLE' : 'UNEXPECTED';
}
