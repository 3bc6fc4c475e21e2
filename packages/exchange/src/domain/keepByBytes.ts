/** What is made from bytes that come again and again, as certificates and published keys do. */
import { hash } from 'node:crypto';

/** Those used last stay; one takes a few kilobytes. */
const CAPACITY = 2_000;

/** Made once, and nothing but a function of the bytes. */
export function keepByBytes<Value>(make: (bytes: Uint8Array) => Value): (bytes: Uint8Array) => Value {
  // Half of them at a time: nothing has to be moved for one that is used again.
  let recent = new Map<string, Value>();
  let older = new Map<string, Value>();
  return (bytes) => {
    const key = hash('sha256', bytes, 'base64');
    const known = recent.get(key);
    if (known !== undefined) return known;
    const value = older.get(key) ?? make(bytes);
    if (recent.size >= CAPACITY / 2) {
      older = recent;
      recent = new Map();
    }
    recent.set(key, value);
    return value;
  };
}
