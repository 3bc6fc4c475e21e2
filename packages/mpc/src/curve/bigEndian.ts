/** Numbers are encoded as 32 bytes, big-endian. */
export const NUMBER_BYTES = 32;

export function toBytes(value: bigint): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(2 * NUMBER_BYTES, '0'), 'hex'));
}

export function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
}

export function isBelow(bytes: Uint8Array, at: number, bound: Uint8Array): boolean {
  let borrow = 0;
  for (let i = NUMBER_BYTES - 1; i >= 0; i--) borrow = (bytes[at + i]! - bound[i]! - borrow) >>> 31;
  return borrow === 1;
}
