/** The client of the exchange as the parts of a duchy share it: certificates are cached, and failures counted. */
import { type Certificate, ExchangeError } from '@measurement-exchange/contract';
import { type ExchangeClient, Unreachable } from '@measurement-exchange/sdk/client';
import { LRUCache } from 'lru-cache';
import type { Metrics } from './observability/metrics.ts';

/** A certificate that was revoked is rejected this much later at the latest. */
const CERTIFICATE_MS = 60_000;
const MAX_CERTIFICATES = 10_000;

export function sharedClient(client: ExchangeClient, metrics: Metrics): ExchangeClient {
  const methods = Object.entries(client).map(([operation, call]) => [
    operation,
    counted(call as Call, (error) => metrics.exchangeFailure(operation, codeOf(error))),
  ]);
  return withCachedCertificates(Object.fromEntries(methods) as ExchangeClient);
}

/** The age of a certificate counts from before it was asked for; callers at once share one call. */
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
      // Neither failures are kept, nor that there is none: it may be created now.
      certificate.catch(() => {
        if (cache.peek(name) === certificate) cache.delete(name);
      });
      return certificate;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: every operation has arguments and a response of its own
type Call = (args?: any) => Promise<unknown> | AsyncIterable<unknown>;

/** Lists are called when they are iterated. */
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
