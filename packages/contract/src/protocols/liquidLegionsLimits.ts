/**
 * Limits of the Liquid Legions protocols. The exchange chooses a protocol only within these limits, and other parties
 * reject larger values.
 */

import type { Protocol } from '../values/states.ts';
import type { MpcNoiseShape } from './shareShuffleLimits.ts';

export type LiquidLegionsProtocol = Extract<Protocol, 'reachOnlyLiquidLegionsV2' | 'liquidLegionsV2'>;

export const MAX_LEGIONS_WORKERS = 10;
export const MAX_DECAY_RATE = 100;
/** The maximum number of registers in one sketch. */
export const MAX_SKETCH_SIZE = 1_000_000;
export const MAX_SAMPLING_INDICATOR_SIZE = 2 ** 32 - 2;
/** The highest maximumFrequency that a spec may ask for. */
export const MAX_LEGIONS_FREQUENCY = 100;
/** The maximum number of noise registers per duchy. More would fill the duchy's memory and take hours. */
export const MAX_LEGIONS_NOISE = 2 ** 20;
/**
 * The maximum number of registers in a computation, including noise registers. Each duchy keeps all of them in memory.
 */
export const MAX_LEGIONS_REGISTERS = 5_000_000;
/**
 * Upper bounds on histogramPrivacyParams and publisherPrivacyParams. With larger values, the duchies would add too
 * little noise.
 */
export const MAX_HIDING_EPSILON = 1;
export const MAX_HIDING_DELTA = 1e-5;

/**
 * Returns the parameters of each kind of noise. Every duchy adds every kind of noise that the protocol has. Only
 * `liquidLegionsV2` has frequency noise.
 */
export function legionsNoiseShapes(
  dataProviders: number,
  duchies: number,
): Record<'reach' | 'frequency' | 'histogram' | 'publisher', MpcNoiseShape> {
  return {
    reach: { workers: duchies, sensitivity: 1 },
    frequency: { workers: duchies, sensitivity: 2 },
    histogram: { workers: duchies, sensitivity: 2 },
    publisher: { workers: duchies, sensitivity: dataProviders },
  };
}

/**
 * Returns the minimum number of copies that a duchy adds of each of two special registers: the publisher noise register
 * and the padding register. For reach alone, one copy is enough, because the aggregator only subtracts these two
 * registers from the number of distinct registers. For frequencies, the aggregator must recognize the two registers by
 * their number of copies. No other register has more copies than there are sketches. Each duchy therefore adds one copy
 * more than there are sketches.
 */
export function knownRegisterCount(protocol: LiquidLegionsProtocol, dataProviders: number): number {
  return protocol === 'liquidLegionsV2' ? dataProviders + 1 : 1;
}

/**
 * Returns the number of registers that each duchy adds as noise. The number does not depend on the random draws,
 * because each duchy fills the rest up with padding registers.
 */
export function legionsNoiseRegisterCount(
  offsets: Record<'reach' | 'histogram' | 'publisher', number>,
  dataProviders: number,
  knownRegisters: number,
): number {
  const histogram = offsets.histogram * dataProviders * (dataProviders + 1);
  return 2 * offsets.publisher + 2 * offsets.reach + histogram + 2 * knownRegisters;
}

/** Returns the number of noise tuples that each duchy adds. A tuple combines all registers with the same index. */
export function legionsNoiseTupleCount(frequencyOffset: number, maximumFrequency: number): number {
  return 2 * frequencyOffset * (maximumFrequency + 1);
}

/** Returns the number of registers in all sketches and all duchies' noise. A tuple counts as one register. */
export function legionsRegisterCount(
  sketches: { dataProviders: number; maxSize: number },
  noise: { duchies: number; registers: number; tuples: number },
): number {
  return sketches.dataProviders * sketches.maxSize + noise.duchies * (noise.registers + noise.tuples);
}
