/** Caches for certificates and keys. Parsing a certificate or importing a key takes longer than using it. */
import { LRUCache } from 'lru-cache';

/**
 * The maximum number of entries in a cache. An entry takes a few kilobytes, so a full cache takes several megabytes.
 */
const MAX_ENTRIES = 2_000;
/**
 * The maximum length of a cache key. Values with longer keys are not cached. For a certificate or a keyset, the cache
 * key is its base64 text. The text of a certificate, and even of a large keyset, does not exceed this length.
 */
const MAX_KEY_LENGTH = 20_000;

/**
 * Returns a function that looks up the value for a key. If the value is not cached, the function creates and caches it.
 * The key must contain everything that the value depends on. Values must not contain secrets, because an entry outlives
 * the call that created it.
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

/**
 * Returns a function that computes a value once per object. The cache keeps the value as long as the object exists. The
 * object must not change.
 */
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

/**
 * Evicts a promise from the cache when it rejects, because the failure may be temporary. The next caller then creates a
 * new promise instead of getting the old error.
 */
function onRejection(value: unknown, evict: () => void): void {
  if (value instanceof Promise) value.catch(evict);
}
