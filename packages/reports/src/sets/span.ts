/** The linear combinations of given vectors. Vectors contain small integers, so rounding errors stay far below 1e-6. */

const ZERO = 1e-6;

export class Span {
  private readonly rows: { pivot: number; values: number[]; weights: number[] }[] = [];
  private readonly size: number;

  constructor(vectors: readonly (readonly number[])[]) {
    this.size = vectors.length;
    for (const [i, vector] of vectors.entries()) this.add(vector, i);
  }

  /** The number of linearly independent vectors. */
  get rank(): number {
    return this.rows.length;
  }

  has(vector: readonly number[]): boolean {
    return this.weightsOf(vector) !== undefined;
  }

  /** Returns weights with which the given vectors add up to `vector`, or undefined if such weights do not exist. */
  weightsOf(vector: readonly number[]): number[] | undefined {
    const { rest, weights } = this.reduce(vector);
    return rest.some((value) => Math.abs(value) > ZERO) ? undefined : weights;
  }

  private add(vector: readonly number[], index: number): void {
    const { rest, weights } = this.reduce(vector);
    const pivot = rest.reduce((best, value, i) => (Math.abs(value) > Math.abs(rest[best]!) ? i : best), 0);
    if (rest.length === 0 || Math.abs(rest[pivot]!) <= ZERO) return;
    const own = weights.map((weight, i) => (i === index ? 1 : 0) - weight);
    this.rows.push({ pivot, values: rest, weights: own });
  }

  /**
   * Subtracts multiples of the rows from the vector. Returns the rest, and the weights with which the given vectors add
   * up to the subtracted part.
   */
  private reduce(vector: readonly number[]): { rest: number[]; weights: number[] } {
    const rest = [...vector];
    const weights = new Array<number>(this.size).fill(0);
    for (const row of this.rows) {
      const factor = rest[row.pivot]! / row.values[row.pivot]!;
      if (factor === 0) continue;
      for (let i = 0; i < rest.length; i++) rest[i]! -= factor * row.values[i]!;
      rest[row.pivot] = 0;
      for (let i = 0; i < weights.length; i++) weights[i]! += factor * row.weights[i]!;
    }
    return { rest, weights };
  }
}
