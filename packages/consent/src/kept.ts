/** Reading and importing a key takes longer than using it: both are done once for a key that is used again. */
import { equalBytes } from '@measurement-exchange/contract';
import type { Bytes } from './bytes.ts';

/** Those used last stay; each takes a few kilobytes. */
const CAPACITY = 500;
/** Above any certificate, and a keyset of many keys, in base64. */
const MAX_KEY_LENGTH = 20_000;

/**
 * What was made for a key before, or else what `make` gives. The key has to hold all that the value is made
 * from. Only for what is public: this outlives the caller's own copy.
 */
export function keepByKey<Value>(): (key: string, make: () => Value) => Value {
  const kept = new Map<string, Value>();
  return (key, make) => {
    const known = kept.get(key);
    const value = known ?? make();
    if (key.length > MAX_KEY_LENGTH) return value;
    // A map is in the order of insertion: the first is the one that was used longest ago.
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > CAPACITY) kept.delete(kept.keys().next().value!);
    if (known === undefined) onRejection(value, () => kept.get(key) === value && kept.delete(key));
    return value;
  };
}

/** What is made from an object that nobody changes, for as long as there is that object. */
export function keepByObject<Key extends WeakKey, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const kept = new WeakMap<Key, Value>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    kept.set(key, value);
    onRejection(value, () => kept.delete(key));
    return value;
  };
}

/** What is made from an array of the caller's, for as long as there is the array and its bytes are the same. */
export function keepByArray<Value>(make: (copy: Bytes) => Value): (array: Uint8Array) => Value {
  const kept = new WeakMap<Uint8Array, { copy: Bytes; value: Value }>();
  return (array) => {
    const known = kept.get(array);
    if (known !== undefined && equalBytes(known.copy, array)) return known.value;
    const copy = Uint8Array.from(array);
    const entry = { copy, value: make(copy) };
    kept.set(array, entry);
    onRejection(entry.value, () => kept.get(array) === entry && kept.delete(array));
    return entry.value;
  };
}

/** A failure is not kept: it may be one of the moment, and each caller gets an error of its own. */
function onRejection(value: unknown, forget: () => void): void {
  if (value instanceof Promise) value.catch(forget);
}
