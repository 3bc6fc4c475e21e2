/** Vectors over the ring of a prime modulus, and all that can be added up from them. */
export class Span {
  private readonly modulus: number;
  private readonly inverses: number[];
  /** By a factor, then by a value: this is the innermost loop of the search, and a division takes long. */
  private readonly products: Uint8Array[];
  /** In each the first value that is not 0 is 1; by the place of that value. */
  private readonly rows = new Map<number, Uint8Array>();

  constructor(modulus: number, vectors: Iterable<Uint8Array> = []) {
    this.modulus = modulus;
    this.inverses = inversesOf(modulus);
    this.products = Array.from({ length: modulus }, (_, factor) =>
      Uint8Array.from({ length: modulus }, (_, value) => (factor * value) % modulus),
    );
    for (const vector of vectors) this.add(vector);
  }

  /** False for a vector that is a sum of multiples of the others. */
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

  /** What is left of a vector, and where that begins. */
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

/** Of each value of the ring but 0, the one that it gives 1 with. */
export function inversesOf(modulus: number): number[] {
  const values = Array.from({ length: modulus }, (_, value) => value);
  return values.map((value) => values.find((other) => (value * other) % modulus === 1) ?? 0);
}
