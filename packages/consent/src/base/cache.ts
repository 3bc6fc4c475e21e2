/** Reading a certificate or importing a key takes longer than using it: both are done once for one that is used again. */
import { LRUCache } from 'lru-cache';

/** An entry takes a few kilobytes. */
const MAX_ENTRIES = 2_000;
/** Above any certificate, and a keyset of many keys, in base64. */
const MAX_KEY_LENGTH = 20_000;

/**
 * Returns the value that was made for a key before, or else makes it. The key has to hold all that the value is made
 * from. Only for public values: an entry outlives its caller.
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

/** Makes a value once for each object, as long as the object lives. The object must not change. */
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

/** A failure is not cached: it may be a passing one, and each caller gets an error of its own. */
function onRejection(value: unknown, evict: () => void): void {
  if (value instanceof Promise) value.catch(evict);
}
