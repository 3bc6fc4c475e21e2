/** Finds the principal to which verified credentials belong. */
import { ExchangeError } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { OPERATOR, type Principal, parsePrincipal } from '../domain/access.ts';
import type { Verified } from './verified.ts';

export type PrincipalQuery = { issuer: string; subject: string } | { name: string };
export interface PrincipalRecord {
  name: string;
  state: 'ACTIVE' | 'SUSPENDED';
}
export type PrincipalLookup = (query: PrincipalQuery) => Promise<PrincipalRecord | undefined>;

export type PrincipalResolver = ReturnType<typeof createPrincipalResolver>;

const CACHE_CAPACITY = 10_000;

export function createPrincipalResolver(options: {
  lookup: PrincipalLookup;
  ttlMs?: number;
  /** Returns the current time in epoch milliseconds. */
  clock?: () => number;
}) {
  const { lookup, ttlMs = 30_000, clock = Date.now } = options;
  // Cache promises, so that concurrent lookups of one principal share a query.
  const cache = new LRUCache<string, Promise<PrincipalRecord | undefined>>({
    max: CACHE_CAPACITY,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now: clock },
  });

  let resolved = new WeakMap<Verified, { principal: Principal; until: number }>();

  function lookupOnce(key: string, query: PrincipalQuery): Promise<PrincipalRecord | undefined> {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const record = lookup(query);
    cache.set(key, record);
    // Don't cache failures, so that the next caller retries.
    record.catch(() => {
      if (cache.peek(key) === record) cache.delete(key);
    });
    return record;
  }

  return {
    /** Returns the principal of verified credentials. Rejects with PRINCIPAL_UNKNOWN or PRINCIPAL_SUSPENDED. */
    async resolve(verified: Verified): Promise<Principal> {
      const { issuer, subject, claimedPrincipal } = verified;
      if (claimedPrincipal === OPERATOR.name) return OPERATOR;
      if (claimedPrincipal !== undefined && parsePrincipal(claimedPrincipal) === undefined) throw unknown();
      const query = claimedPrincipal === undefined ? { issuer, subject } : { name: claimedPrincipal };
      const key = JSON.stringify(query);
      const asked = resolved;
      const record = await lookupOnce(key, query);
      const principal = record && parsePrincipal(record.name);
      if (record === undefined || principal === undefined) throw unknown();
      if (record.state === 'SUSPENDED') {
        throw new ExchangeError('PRINCIPAL_SUSPENDED', `${record.name} is suspended.`);
      }
      // Write to the map that was in use before the lookup. If `invalidate` has replaced the map since, nobody reads
      // this outdated entry.
      asked.set(verified, { principal, until: clock() + cache.getRemainingTTL(key) });
      return principal;
    },

    /**
     * Returns the principal that `resolve` returned for the same `verified` object, or undefined if the principal is
     * not cached.
     */
    recall(verified: Verified): Principal | undefined {
      const known = resolved.get(verified);
      return known !== undefined && clock() < known.until ? known.principal : undefined;
    },

    /**
     * Clears this replica's caches. Call this after bindings or parties change. Entries in other replicas expire after
     * `ttlMs`.
     */
    invalidate() {
      cache.clear();
      resolved = new WeakMap();
    },
  };
}

function unknown(): ExchangeError {
  return new ExchangeError(
    'PRINCIPAL_UNKNOWN',
    'The credentials are good, but belong to no principal: ask the operator of this exchange.',
  );
}
