/**
 * A provider's Liquid Legions sketches. A person's register depends only on the VID, so sketches from several providers
 * can be merged. Registers with low indexes are hit far more often than registers with high indexes. Even a small
 * sketch can therefore count both few and many people.
 */
import type { LiquidLegionsSize } from '../privacy/liquidLegions.ts';
import { Fingerprints } from './fingerprint.ts';

export type LiquidLegionsParams = LiquidLegionsSize;

export interface FrequencySketchParams extends LiquidLegionsParams {
  /**
   * The number of possible sampling indicators. An indicator is a hash of the VID. Two people in one register rarely
   * have the same indicator.
   */
  samplingIndicatorSize: number;
}

/** Assigns people to registers. The probability of a register decreases exponentially with its index. */
export class RegisterIndexes {
  private readonly params: LiquidLegionsParams;
  private readonly highest: number;
  private readonly fingerprints = new Fingerprints('Index');

  constructor(params: LiquidLegionsParams) {
    checkParams(params);
    this.params = params;
    this.highest = Math.exp(params.decayRate);
  }

  /** Returns the index of the register to which the VID is assigned, from 0 to maxSize − 1. */
  of(vid: number | bigint): number {
    const { high, low } = this.fingerprints.of(vid);
    return this.at((high * 2 ** 32 + low) / 2 ** 64);
  }

  /** Returns the register index for `u`, a hash that was scaled to the range from 0 to 1. */
  at(u: number): number {
    const { highest } = this;
    const { decayRate, maxSize } = this.params;
    const x = 1 - Math.log(highest + u * (1 - highest)) / decayRate;
    return Math.min(Math.trunc(x * maxSize), maxSize - 1);
  }
}

/**
 * The key of a destroyed register. A register is destroyed if people with different sampling indicators hit it. Its
 * frequency is then meaningless.
 */
export const DESTROYED = 0;

export const MAX = 2 ** 32 - 1;

export function checkParams({ decayRate, maxSize }: LiquidLegionsParams): void {
  if (!(decayRate > 0 && decayRate <= 100)) throw new RangeError('decayRate must be above 0 and at most 100');
  if (!(Number.isInteger(maxSize) && maxSize >= 1 && maxSize <= MAX)) {
    throw new RangeError(`maxSize must be a whole number from 1 to ${MAX}`);
  }
}
