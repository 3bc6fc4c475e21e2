/** Caches for certificates and keys, since parsing a certificate or importing a key takes longer than using it. */
import { LRUCache } from 'lru-cache';

/** Each entry takes up a few kilobytes. */
const MAX_ENTRIES = 2_000;
/** Longer keys are not cached. In base64, certificates are shorter than this, and so are keysets with many keys. */
const MAX_KEY_LENGTH = 20_000;

/**
 * Returns a function that looks up a key's value, or creates and caches it. The key must contain everything that the value
 * depends on. Entries outlive their callers, so values must not contain secrets.
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

/** Returns a function that computes a value once per object and caches it with the object, which must not change. */
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

/** Evicts a promise that rejects, because failures may be temporary, and each caller needs its own error. */
function onRejection(value: unknown, evict: () => void): void {
  if (value instanceof Promise) value.catch(evict);
}
