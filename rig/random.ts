/** Chance that a seed repeats: for what the rig does, never for anything secret. */
export class Random {
  private state: number;
  readonly seed: number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.state = this.seed;
  }

  /** A stream of its own, the same one for the same label however much was drawn here. */
  fork(label: string): Random {
    let hash = this.seed ^ 0x811c9dc5;
    for (const char of label) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
    return new Random(hash);
  }

  /** 32 bits, by the mixing of splitmix32. */
  bits(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }

  /** 0 to `below` − 1. */
  int(below: number): number {
    return Math.floor((this.bits() / 2 ** 32) * below);
  }

  chance(probability: number): boolean {
    return this.bits() / 2 ** 32 < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)]!;
  }

  /** A key of `weights`, as often as its weight says. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.int(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [key, weight] of entries) {
      if (left < weight) return key;
      left -= weight;
    }
    throw new Error('weights are positive integers');
  }

  /** An unsigned integer of 64 bits. */
  uint64(): bigint {
    return (BigInt(this.bits()) << 32n) | BigInt(this.bits());
  }

  id(length = 12): string {
    const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
    return Array.from({ length }, () => letters[this.int(letters.length)]).join('');
  }
}
