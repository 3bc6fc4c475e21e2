/** Sources of randomness for noise, and functions that draw exactly uniform integers. */

/** A stream of uniformly random bytes. Noise for released results needs a secure source. Tests may use a fixed seed. */
export type RandomSource = { bytes(n: number): Uint8Array };

/**
 * The number of bytes to request from WebCrypto at once. WebCrypto allows 65,536 bytes, but 8 KiB is enough to make the
 * overhead negligible.
 */
const POOL_BYTES = 8192;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** The platform's secure random generator, read in blocks. Each byte is returned once and then wiped. */
export const secureRandom: RandomSource = {
  bytes(n) {
    if (n > POOL_BYTES) throw new RangeError(`n must be at most ${POOL_BYTES}: ask for less at once`);
    if (used + n > POOL_BYTES) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const taken = pool.slice(used, used + n);
    pool.fill(0, used, used + n);
    used += n;
    return taken;
  },
};

export function uniform32(random: RandomSource): number {
  const bytes = random.bytes(4);
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0;
}

/**
 * Draws a number from 0 to n − 1 by rejection sampling. Using remainders would make some numbers more likely than
 * others.
 */
export function uniformBelow(n: bigint, random: RandomSource): bigint {
  if (n <= 0n) throw new RangeError('n must be above 0');
  if (n <= 0x1_0000_0000n) return BigInt(uniformBelow32(Number(n), random));
  const bits = (n - 1n).toString(2).length;
  for (;;) {
    let value = 0n;
    for (let got = 0; got < bits; got += 32) value = (value << 32n) | BigInt(uniform32(random));
    value = BigInt.asUintN(bits, value);
    if (value < n) return value;
  }
}

/** Draws a number from 0 to n − 1, where 1 ≤ n ≤ 2^32. */
export function uniformBelow32(n: number, random: RandomSource): number {
  const mask = n === 1 ? 0 : 0xffffffff >>> Math.clz32(n - 1);
  if (mask === 0) return 0;
  for (;;) {
    const value = (uniform32(random) & mask) >>> 0;
    if (value < n) return value;
  }
}
