/**
 * The inverse of a covariance matrix. Rows whose errors are independent form separate blocks. The blocks make the
 * inversion much faster, because nearly all errors are independent in most matrices.
 */
import { backward, cholesky, forward } from './matrix.ts';

/** A vector that is 0 except in these rows. */
export interface Sparse {
  readonly rows: Int32Array;
  readonly values: Float64Array;
}

interface Block {
  rows: number[];
  inverse: Float64Array[];
}

export class Precision {
  readonly size: number;
  private readonly blocks: Block[];
  /** The block of each row, and the row's position in it. */
  private readonly places: { block: Block; at: number }[] = [];

  /**
   * `exact` is the number of rows to add after the rows of the matrix. Each added row is independent and has the
   * precision `tightness`.
   */
  constructor(covariance: readonly Float64Array[], exact: number, tightness: number) {
    this.size = covariance.length + exact;
    this.blocks = blocksOf(covariance).map((rows) => ({ rows, inverse: inverseOf(covariance, rows) }));
    for (let i = 0; i < exact; i++) {
      this.blocks.push({ rows: [covariance.length + i], inverse: [Float64Array.of(tightness)] });
    }
    for (const block of this.blocks)
      for (const [at, row] of block.rows.entries()) this.places[row] = { block, at };
  }

  /** Returns the precision times the vector. */
  times({ rows, values }: Sparse): Float64Array {
    const result = new Float64Array(this.size);
    for (let i = 0; i < rows.length; i++) {
      const { block, at } = this.places[rows[i]!]!;
      const inverse = block.inverse[at]!;
      for (let k = 0; k < inverse.length; k++) result[block.rows[k]!]! += values[i]! * inverse[k]!;
    }
    return result;
  }

  timesDense(vector: Float64Array): Float64Array {
    const result = new Float64Array(this.size);
    for (const { rows, inverse } of this.blocks) {
      for (let i = 0; i < rows.length; i++) {
        let sum = 0;
        const own = inverse[i]!;
        for (let k = 0; k < own.length; k++) sum += own[k]! * vector[rows[k]!]!;
        result[rows[i]!] = sum;
      }
    }
    return result;
  }

  /** Returns vᵀ P v for a vector v, where P is the precision. */
  square({ rows, values }: Sparse): number {
    let sum = 0;
    for (let i = 0; i < rows.length; i++) {
      const { block, at } = this.places[rows[i]!]!;
      const inverse = block.inverse[at]!;
      if (inverse.length === 1) {
        sum += inverse[0]! * values[i]! ** 2;
        continue;
      }
      for (let j = 0; j < rows.length; j++) {
        const other = this.places[rows[j]!]!;
        if (other.block === block) sum += values[i]! * values[j]! * inverse[other.at]!;
      }
    }
    return sum;
  }
}

/** Returns the rows of each block. Rows belong to one block if a chain of nonzero covariances connects them. */
function blocksOf(covariance: readonly Float64Array[]): number[][] {
  const isFound = new Uint8Array(covariance.length);
  const blocks: number[][] = [];
  for (let first = 0; first < covariance.length; first++) {
    if (isFound[first]) continue;
    isFound[first] = 1;
    const block = [first];
    for (let i = 0; i < block.length; i++) {
      const own = covariance[block[i]!]!;
      for (let row = first + 1; row < own.length; row++) {
        if (own[row] === 0 || isFound[row]) continue;
        isFound[row] = 1;
        block.push(row);
      }
    }
    blocks.push(block);
  }
  return blocks;
}

function inverseOf(covariance: readonly Float64Array[], rows: readonly number[]): Float64Array[] {
  if (rows.length === 1) return [Float64Array.of(1 / covariance[rows[0]!]![rows[0]!]!)];
  const factor = cholesky(rows.map((i) => Float64Array.from(rows, (j) => covariance[i]![j]!)));
  return rows.map((_, i) => {
    const unit = new Float64Array(rows.length);
    unit[i] = 1;
    return backward(factor, forward(factor, unit));
  });
}
