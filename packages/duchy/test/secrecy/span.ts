/** The span of vectors modulo a prime: all sums of multiples of the vectors. */
export class Span {
  private readonly modulus: number;
  private readonly inverses: number[];
  /** Products by factor and value. A table is faster than a division in the innermost loop of the search. */
  private readonly products: Uint8Array[];
  /** The rows of the echelon form, by the position of their first nonzero value, which is 1. */
  private readonly rows = new Map<number, Uint8Array>();

  constructor(modulus: number, vectors: Iterable<Uint8Array> = []) {
    this.modulus = modulus;
    this.inverses = inversesOf(modulus);
    this.products = Array.from({ length: modulus }, (_, factor) =>
      Uint8Array.from({ length: modulus }, (_, value) => (factor * value) % modulus),
    );
    for (const vector of vectors) this.add(vector);
  }

  /** Adds a vector. Returns false if the vector is already in the span. */
  add(vector: Uint8Array): boolean {
    const { rest, at } = this.reduce(vector);
    if (at < 0) return false;
    const factor = this.inverses[rest[at]!]!;
    this.rows.set(
      at,
      rest.map((value) => (value * factor) % this.modulus),
    );
    return true;
  }

  has(vector: Uint8Array): boolean {
    return this.reduce(vector).at < 0;
  }

  /**
   * Subtracts multiples of the rows from a vector. Returns the remainder and the position of its first nonzero value,
   * or −1 as the position if the remainder is zero.
   */
  private reduce(vector: Uint8Array): { rest: Uint8Array; at: number } {
    const { modulus } = this;
    const rest = Uint8Array.from(vector);
    for (let at = 0; at < rest.length; at++) {
      if (rest[at] === 0) continue;
      const row = this.rows.get(at);
      if (row === undefined) return { rest, at };
      const products = this.products[modulus - rest[at]!]!;
      for (let i = at; i < rest.length; i++) {
        const sum = rest[i]! + products[row[i]!]!;
        rest[i] = sum < modulus ? sum : sum - modulus;
      }
    }
    return { rest, at: -1 };
  }
}

/** Returns the multiplicative inverse of each value modulo a prime, indexed by the value. The entry for 0 is 0. */
export function inversesOf(modulus: number): number[] {
  const values = Array.from({ length: modulus }, (_, value) => value);
  return values.map((value) => values.find((other) => (value * other) % modulus === 1) ?? 0);
}
