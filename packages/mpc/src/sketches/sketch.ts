/**
 * Liquid Legions sketches of a provider. A person's register follows from the VID alone, so that sketches of providers can
 * be united; low registers are hit far more often than high ones, so that few registers do for few people and for many.
 */
import { Fingerprints } from './fingerprint.ts';

export interface LiquidLegionsParams {
  /** The lowest register is e^decayRate times as likely as the highest. */
  decayRate: number;
  /** How many registers there are. */
  maxSize: number;
}

export interface FrequencySketchParams extends LiquidLegionsParams {
  /** How many sampling indicators there are: people of one register have the same one by chance only. */
  samplingIndicatorSize: number;
}

/** The registers of people: exponentially distributed. */
export class RegisterIndexes {
  private readonly params: LiquidLegionsParams;
  /** e^decayRate */
  private readonly highest: number;
  private readonly fingerprints = new Fingerprints('Index');

  constructor(params: LiquidLegionsParams) {
    checkParams(params);
    this.params = params;
    this.highest = Math.exp(params.decayRate);
  }

  /** From 0 to maxSize − 1. */
  of(vid: number | bigint): number {
    const { highest } = this;
    const { decayRate, maxSize } = this.params;
    const { high, low } = this.fingerprints.of(vid);
    const u = (high * 2 ** 32 + low) / 2 ** 64;
    const x = 1 - Math.log(highest + u * (1 - highest)) / decayRate;
    return Math.min(Math.trunc(x * maxSize), maxSize - 1);
  }
}

/** Which registers have somebody: enough for a reach. */
export class ReachSketch {
  /** 1 for a register that is active, else 0. */
  readonly active: Uint8Array<ArrayBuffer>;
  private readonly indexes: RegisterIndexes;

  constructor(params: LiquidLegionsParams) {
    this.indexes = new RegisterIndexes(params);
    this.active = new Uint8Array(params.maxSize);
  }

  add(vid: number | bigint): void {
    this.active[this.indexes.of(vid)] = 1;
  }
}

/** The key of a register that two people with different sampling indicators share: its frequency says nothing. */
export const DESTROYED = 0;

/** Who is in each register, and how often that person was reached. */
export class FrequencySketch {
  /** The sampling indicator plus one, or DESTROYED; meaningless for an empty register. */
  readonly keys: Uint32Array<ArrayBuffer>;
  /** 0 for an empty register. */
  readonly frequencies: Uint32Array<ArrayBuffer>;
  private readonly indexes: RegisterIndexes;
  private readonly indicators = new Fingerprints('SamplingIndicator');
  private readonly indicatorCount: number;

  constructor(params: FrequencySketchParams) {
    const { maxSize, samplingIndicatorSize } = params;
    if (
      !(Number.isInteger(samplingIndicatorSize) && samplingIndicatorSize >= 1 && samplingIndicatorSize < MAX)
    ) {
      throw new RangeError(`samplingIndicatorSize must be a whole number from 1 to ${MAX - 1}`);
    }
    this.indexes = new RegisterIndexes(params);
    this.indicatorCount = samplingIndicatorSize;
    this.keys = new Uint32Array(maxSize);
    this.frequencies = new Uint32Array(maxSize);
  }

  /** Counts `times` more events of a person. */
  add(vid: number | bigint, times: number): void {
    if (times === 0) return;
    const index = this.indexes.of(vid);
    const key = this.indicatorOf(vid) + 1;
    const known = this.frequencies[index]!;
    this.keys[index] = known === 0 || this.keys[index] === key ? key : DESTROYED;
    this.frequencies[index] = Math.min(known + times, MAX);
  }

  indicatorOf(vid: number | bigint): number {
    const { high, low } = this.indicators.of(vid);
    const size = this.indicatorCount;
    // By 16 bits at a time: every number on the way is exact.
    const rest = ((high % size) * 2 ** 16 + (low >>> 16)) % size;
    return (rest * 2 ** 16 + (low & 0xffff)) % size;
  }
}

const MAX = 2 ** 32 - 1;

export function checkParams({ decayRate, maxSize }: LiquidLegionsParams): void {
  if (!(decayRate > 0 && decayRate <= 100)) throw new RangeError('decayRate must be above 0 and at most 100');
  if (!(Number.isInteger(maxSize) && maxSize >= 1 && maxSize <= MAX)) {
    throw new RangeError(`maxSize must be a whole number from 1 to ${MAX}`);
  }
}
