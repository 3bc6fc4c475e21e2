/**
 * Non-negative least squares by the active-set method of Lawson and Hanson (1974). The vectors in use are always
 * linearly independent. No vector has a negative coefficient.
 */
import { backward, dot, forward } from './matrix.ts';
import type { Precision, Sparse } from './precision.ts';

/**
 * A vector counts as linearly dependent if its distance to the span of the used vectors is below this fraction of its
 * length.
 */
const DEPENDENT = 1e-6;
/**
 * If the computed square of a vector's distance to the span is below this fraction of the vector's squared length,
 * cancellation has removed most of its digits. The square is then computed again, from the vector minus the nearest
 * point of the span.
 */
const INEXACT = 1e-6;
/**
 * The number of times that the final coefficients are refined. Each time removes nearly all of the remaining rounding
 * errors.
 */
const REFINEMENTS = 2;

export class LeastSquares<T extends Sparse> {
  readonly used: T[] = [];
  /** The coefficient of each used vector. */
  coefficients: number[] = [];
  /** The precision times the residual. Element i tells how fast the fit improves if fitted value i grows. */
  rewards: Float64Array = new Float64Array();
  chiSquared = 0;
  /** The dot product of each used vector and the target. */
  private products: number[] = [];
  /** The Cholesky factor of the matrix of dot products of the used vectors. */
  private readonly factor: Float64Array[] = [];
  private target: Float64Array;
  private readonly precision: Precision;
  private wanted: Float64Array;

  /** All dot products use the precision P: a · b means aᵀ P b. */
  constructor(target: Float64Array, precision: Precision) {
    this.target = target;
    this.precision = precision;
    this.wanted = precision.timesDense(target);
    this.update();
  }

  /**
   * Starts with these vectors and coefficients, which should be close to the optimum, and moves to the optimal
   * coefficients.
   */
  start(vectors: readonly T[], coefficients: readonly number[]): void {
    for (const [i, vector] of vectors.entries())
      if (this.extend(vector)) this.coefficients[this.used.length - 1] = coefficients[i]!;
    this.settle();
    this.update();
  }

  /** Fits another target. Starts with the vectors and coefficients that fit the previous target. */
  retarget(target: Float64Array): void {
    this.target = target;
    this.wanted = this.precision.timesDense(target);
    this.products = this.used.map((vector) => dotSparse(vector, this.wanted));
    this.settle();
    this.update();
  }

  /**
   * Adds vectors to `used`, and drops vectors whose coefficients would become negative. Returns false if none of the
   * new vectors stays.
   */
  add(vectors: readonly T[]): boolean {
    const added = new Set(vectors.filter((vector) => this.extend(vector)));
    if (added.size === 0) return false;
    this.settle();
    this.update();
    return this.used.some((vector) => added.has(vector));
  }

  /**
   * Corrects the coefficients for the rounding errors that the Cholesky factor accumulated while vectors were added and
   * dropped.
   */
  refine(): void {
    for (let i = 0; i < REFINEMENTS; i++) {
      const change = this.solve(this.used.map((vector) => dotSparse(vector, this.rewards)));
      this.coefficients = this.coefficients.map((old, j) => Math.max(0, old + change[j]!));
      this.update();
    }
  }

  /** Returns the vector minus the sum of the used vectors times their coefficients. */
  restOf(vector: Float64Array): Float64Array {
    const rest = Float64Array.from(vector);
    for (let i = 0; i < this.used.length; i++) subtract(rest, this.used[i]!, this.coefficients[i]!);
    return rest;
  }

  /** Computes `rewards` and `chiSquared` from the residual of the fit. */
  private update(): void {
    const rest = this.restOf(this.target);
    this.rewards = this.precision.timesDense(rest);
    this.chiSquared = dot(rest, this.rewards);
  }

  /** Moves to the best coefficients. Vectors whose coefficients reach 0 on the way are dropped. */
  private settle(): void {
    for (;;) {
      const wanted = this.solve(this.products);
      let [first, step] = [-1, 1];
      const atZero: number[] = [];
      for (let i = 0; i < wanted.length; i++) {
        if (wanted[i]! > 0) continue;
        const old = this.coefficients[i]!;
        if (old === 0) atZero.push(i);
        else if (old / (old - wanted[i]!) < step || first < 0) [first, step] = [i, old / (old - wanted[i]!)];
      }
      // Drop new vectors whose coefficients would become negative, because they would not improve the fit.
      if (atZero.length > 0) {
        for (const i of atZero.reverse()) this.drop(i);
        continue;
      }
      for (let i = 0; i < wanted.length; i++) {
        const old = this.coefficients[i]!;
        this.coefficients[i] = Math.max(0, old + step * (wanted[i]! - old));
      }
      if (first < 0) return;
      this.drop(first);
    }
  }

  private solve(products: readonly number[]): Float64Array {
    return backward(this.factor, forward(this.factor, products));
  }

  /** Adds a vector with the coefficient 0. Returns false if this vector depends linearly on the used vectors. */
  private extend(vector: T): boolean {
    const image = this.precision.times(vector);
    const length = dotSparse(vector, image);
    const n = this.used.length;
    const row = new Float64Array(n + 1);
    for (let i = 0; i < n; i++) row[i] = dotSparse(this.used[i]!, image);
    row.set(forward(this.factor, row, n));
    let rest = length;
    for (let k = 0; k < n; k++) rest -= row[k]! ** 2;
    if (rest < INEXACT * length) rest = this.squaredDistance(vector, row);
    if (!(rest > DEPENDENT ** 2 * length)) return false;
    row[n] = Math.sqrt(rest);
    this.factor.push(row);
    this.used.push(vector);
    this.products.push(dotSparse(vector, this.wanted));
    this.coefficients.push(0);
    return true;
  }

  /**
   * Returns the squared distance, weighted by the precision, from a vector to the span of the used vectors. `row` is
   * the vector's row of the factor.
   */
  private squaredDistance(vector: T, row: Float64Array): number {
    const nearest = backward(this.factor, row.subarray(0, this.used.length));
    const rest = new Float64Array(this.target.length);
    subtract(rest, vector, -1);
    for (const [i, used] of this.used.entries()) subtract(rest, used, nearest[i]!);
    return dot(rest, this.precision.timesDense(rest));
  }

  /** Removes a used vector. Rotations of neighboring columns of the factor make the factor triangular again. */
  private drop(index: number): void {
    this.coefficients.splice(index, 1);
    this.used.splice(index, 1);
    this.products.splice(index, 1);
    this.factor.splice(index, 1);
    for (let j = index; j < this.factor.length; j++) {
      const pivot = this.factor[j]!;
      const length = Math.hypot(pivot[j]!, pivot[j + 1]!);
      const [cosine, sine] = [pivot[j]! / length, pivot[j + 1]! / length];
      for (let i = j; i < this.factor.length; i++) {
        const row = this.factor[i]!;
        const [a, b] = [row[j]!, row[j + 1]!];
        row[j] = cosine * a + sine * b;
        row[j + 1] = cosine * b - sine * a;
      }
      this.factor[j] = pivot.subarray(0, j + 1);
    }
  }
}

/** Subtracts a multiple of a sparse vector. */
export function subtract(from: Float64Array, { rows, values }: Sparse, times: number): void {
  for (let i = 0; i < rows.length; i++) from[rows[i]!]! -= times * values[i]!;
}

export function dotSparse({ rows, values }: Sparse, vector: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum += values[i]! * vector[rows[i]!]!;
  return sum;
}
