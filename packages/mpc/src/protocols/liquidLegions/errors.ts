/** Thrown if a party sends something that does not follow the protocol. */
export class LiquidLegionsError extends Error {
  override name = 'LiquidLegionsError';
}

export function checkBlocks(bytes: Uint8Array, size: number, what: string): void {
  if (bytes.length % size === 0) return;
  throw new LiquidLegionsError(`${what} must be whole blocks of ${size} bytes, and has ${bytes.length}`);
}
