/** Bytes that are not in shared memory. WebCrypto rejects shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>;

export function concat(...parts: Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function asBytes(bytes: Uint8Array): Bytes {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Bytes) : Uint8Array.from(bytes);
}

/**
 * Pads an integer with leading zeros to `width` bytes, or drops extra leading zeros. Returns undefined if the integer
 * does not fit.
 */
export function toWidth(integer: Uint8Array, width: number): Bytes | undefined {
  const first = integer.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? new Uint8Array() : integer.subarray(first);
  if (digits.length > width) return undefined;
  return concat(new Uint8Array(width - digits.length), digits);
}

/**
 * Reads a big-endian integer whose length is a multiple of eight bytes. Reading eight bytes at a time is ten times as
 * fast as reading single bytes.
 */
export function bigEndian(integer: Uint8Array): bigint {
  const view = new DataView(integer.buffer, integer.byteOffset, integer.byteLength);
  let sum = 0n;
  for (let at = 0; at < integer.length; at += 8) sum = (sum << 64n) | view.getBigUint64(at);
  return sum;
}
