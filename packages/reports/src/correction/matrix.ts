/** Dense linear algebra on vectors of doubles. */

/** Returns the Cholesky factor L of the matrix. The matrix equals L Lᵀ. */
export function cholesky(matrix: readonly Float64Array[]): Float64Array[] {
  const factor = matrix.map((_, i) => new Float64Array(i + 1));
  for (let i = 0; i < matrix.length; i++) {
    const own = factor[i]!;
    for (let j = 0; j < i; j++) {
      const other = factor[j]!;
      let sum = matrix[i]![j]!;
      for (let k = 0; k < j; k++) sum -= own[k]! * other[k]!;
      own[j] = sum / other[j]!;
    }
    let sum = matrix[i]![i]!;
    for (let k = 0; k < i; k++) sum -= own[k]! ** 2;
    // Rounding errors can make a pivot zero or negative. Raise each pivot to at least a tiny fraction of the diagonal
    // element.
    own[i] = Math.sqrt(Math.max(sum, 1e-12 * matrix[i]![i]!));
  }
  return factor;
}

/** Returns L⁻¹ v, where L is the Cholesky factor. Uses only the first `size` elements of v. */
export function forward(
  factor: readonly Float64Array[],
  v: ArrayLike<number>,
  size = v.length,
): Float64Array {
  const result = new Float64Array(size);
  let isZero = true;
  for (let i = 0; i < size; i++) {
    let sum = v[i]!;
    if (isZero && sum === 0) continue;
    isZero = false;
    const row = factor[i]!;
    for (let k = 0; k < i; k++) sum -= row[k]! * result[k]!;
    result[i] = sum / row[i]!;
  }
  return result;
}

/** Returns (Lᵀ)⁻¹ v, where L is the Cholesky factor. */
export function backward(factor: readonly Float64Array[], v: ArrayLike<number>): Float64Array {
  const result = Float64Array.from(v);
  for (let i = result.length - 1; i >= 0; i--) {
    const row = factor[i]!;
    const value = result[i]! / row[i]!;
    result[i] = value;
    if (value !== 0) for (let k = 0; k < i; k++) result[k]! -= row[k]! * value;
  }
  return result;
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
