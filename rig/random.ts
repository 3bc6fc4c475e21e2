/**
 * A pseudorandom generator. The same seed always gives the same numbers. The rig uses the generator for its own choices
 * and never for secrets.
 */
export class Random {
  private state: number;
  readonly seed: number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.state = this.seed;
  }

  /**
   * Returns an independent generator. The same label gives the same stream, regardless of how many numbers were drawn
   * from this generator.
   */
  fork(label: string): Random {
    let hash = this.seed ^ 0x811c9dc5;
    for (const char of label) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
    return new Random(hash);
  }

  /** Returns 32 bits, mixed as in splitmix32. */
  bits(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }

  /** Returns an integer from 0 to `below` − 1. */
  int(below: number): number {
    return Math.floor((this.bits() / 2 ** 32) * below);
  }

  chance(probability: number): boolean {
    return this.bits() / 2 ** 32 < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)]!;
  }

  /** Returns a key of `weights` with a probability proportional to its weight. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.int(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [key, weight] of entries) {
      if (left < weight) return key;
      left -= weight;
    }
    throw new Error('weights are positive integers');
  }

  /** Returns an unsigned 64-bit integer. */
  uint64(): bigint {
    return (BigInt(this.bits()) << 32n) | BigInt(this.bits());
  }

  id(length = 12): string {
    const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
    return Array.from({ length }, () => letters[this.int(letters.length)]).join('');
  }
}
