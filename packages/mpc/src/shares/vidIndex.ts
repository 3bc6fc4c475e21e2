/**
 * Maps each VID of a population to its index, which is its position in the order that all providers share. See
 * vidOrder.ts.
 */
import { createHash } from 'node:crypto';
import type { VidRange } from '@measurement-exchange/contract';
import { canonicalRanges, populationBytes } from '@measurement-exchange/contract/population';
import { VidPositions } from './vidOrder.ts';

/** Returns the SHA-256 hash of a population's ranges, which identifies the population. */
export function populationFingerprint(ranges: readonly VidRange[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(populationBytes(ranges)).digest());
}

export class VidIndex {
  readonly size: number;
  private readonly positions: VidPositions;
  private readonly indexes: Uint32Array;

  /** The `indexes` must be the result of `orderVids` for these ranges. */
  constructor(ranges: readonly VidRange[], indexes: Uint32Array) {
    this.positions = new VidPositions(canonicalRanges(ranges));
    this.size = this.positions.size;
    if (indexes.length !== this.size) throw new RangeError('indexes must have an entry for each VID');
    this.indexes = indexes;
  }

  of(vid: number): number {
    const position = this.positions.of(vid);
    return position < 0 ? -1 : this.indexes[position]!;
  }
}
