import { type LiquidLegionsParams, RegisterIndexes } from '../../sketches/sketch.ts';

export { REACH_REGISTER_BYTES } from '../../sketches/encryptSketch.ts';

/**
 * A provider's sketch for reach. Each person whom the provider reached maps to one register, and the sketch records
 * these registers.
 */
export class ReachSketch {
  /** One byte per register: 1 if the register is hit, else 0. */
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
