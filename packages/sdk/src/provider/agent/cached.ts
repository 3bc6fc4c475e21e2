import type { Clock } from '../../client/clock.ts';

export type Cached<T> = ReturnType<typeof cached<T>>;

/** Returns a cache for `read`. Each value stays in the cache for `ttlMs` milliseconds. Failures are not cached. */
export function cached<T>(read: (name: string) => Promise<T>, ttlMs: number, clock: Clock) {
  const cache = new Map<string, { value: Promise<T>; expiresAt: number }>();
  return {
    read(name: string): Promise<T> {
      for (const [key, { expiresAt }] of cache) if (expiresAt <= clock.now()) cache.delete(key);
      const hit = cache.get(name)?.value;
      if (hit !== undefined) return hit;
      const value = read(name);
      cache.set(name, { value, expiresAt: clock.now() + ttlMs });
      // Another value may have replaced this one in the meantime.
      value.catch(() => cache.get(name)?.value === value && cache.delete(name));
      return value;
    },
    evict: (name: string) => void cache.delete(name),
  };
}
