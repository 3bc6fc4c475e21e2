/** Caches for certificates and keys, since parsing a certificate or importing a key takes longer than using it. */
import { LRUCache } from 'lru-cache';

/** An entry takes a few kilobytes. */
const MAX_ENTRIES = 2_000;
/** Longer keys are not cached. Certificates, and keysets of many keys, are shorter than this in base64. */
const MAX_KEY_LENGTH = 20_000;

/**
 * Returns a function that returns the cached value for a key, or else makes it. The key must contain everything that the
 * value depends on. Entries outlive their callers, so values must be public.
 */
export function cache<Value extends object>(): (key: string, make: () => Value) => Value {
  const entries = new LRUCache<string, Value>({ max: MAX_ENTRIES });
  return (key, make) => {
    const cached = entries.get(key);
    if (cached !== undefined) return cached;
    const value = make();
    if (key.length > MAX_KEY_LENGTH) return value;
    entries.set(key, value);
    onRejection(value, () => entries.peek(key) === value && entries.delete(key));
    return value;
  };
}

/** Makes a value once for each object, and keeps it while the object lives. The object must not change. */
export function cacheByObject<Key extends WeakKey, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const entries = new WeakMap<Key, Value>();
  return (key) => {
    const cached = entries.get(key);
    if (cached !== undefined) return cached;
    const value = make(key);
    entries.set(key, value);
    onRejection(value, () => entries.delete(key));
    return value;
  };
}

/** Failures are not cached, because they may be temporary and each caller needs a separate error. */
function onRejection(value: unknown, evict: () => void): void {
  if (value instanceof Promise) value.catch(evict);
}
