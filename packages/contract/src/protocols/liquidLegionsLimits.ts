/** Limits of the Liquid Legions protocols: the exchange chooses them only within these, and duchies and providers reject more. */

import type { Protocol } from '../values/states.ts';
import type { MpcNoiseShape } from './shareShuffleLimits.ts';

export type LiquidLegionsProtocol = Extract<Protocol, 'reachOnlyLiquidLegionsV2' | 'liquidLegionsV2'>;

export const MAX_LEGIONS_WORKERS = 10;
export const MAX_DECAY_RATE = 100;
/** Registers of one sketch. */
export const MAX_SKETCH_SIZE = 1_000_000;
export const MAX_SAMPLING_INDICATOR_SIZE = 2 ** 32 - 2;
/** The highest maximumFrequency that a spec may ask for. */
export const MAX_LEGIONS_FREQUENCY = 100;
/** Noise registers of one duchy: more would fill its memory and take it hours. */
export const MAX_LEGIONS_NOISE = 2 ** 20;
/** As `legionsRegisterCount` counts them: each duchy has them in memory. */
export const MAX_LEGIONS_REGISTERS = 5_000_000;
/** Bounds of histogramPrivacyParams and publisherPrivacyParams: above them nothing would be hidden. */
export const MAX_HIDING_EPSILON = 1;
export const MAX_HIDING_DELTA = 1e-5;

/** The shapes of the noise. Every duchy of the ring adds each kind of it. */
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
 * How often the register of the publishers' noise, and that of the padding, is there at least: once, so that the aggregator
 * can subtract both; with frequencies in more sketches than there are, so that both are known as noise.
 */
export function knownRegisterCount(protocol: LiquidLegionsProtocol, dataProviders: number): number {
  return protocol === 'liquidLegionsV2' ? dataProviders + 1 : 1;
}

/** How many registers each duchy adds for its noise, whatever the noise is. */
export function legionsNoiseRegisterCount(
  offsets: Record<'reach' | 'histogram' | 'publisher', number>,
  dataProviders: number,
  knownRegisters: number,
): number {
  const histogram = offsets.histogram * dataProviders * (dataProviders + 1);
  return 2 * offsets.publisher + 2 * offsets.reach + histogram + 2 * knownRegisters;
}

/** How many tuples each duchy adds for the noise of the frequencies. */
export function legionsNoiseTupleCount(frequencyOffset: number, maximumFrequency: number): number {
  return 2 * frequencyOffset * (maximumFrequency + 1);
}

/** The registers of all sketches and of the noise of all duchies, at most MAX_LEGIONS_REGISTERS. A tuple counts as a register. */
export function legionsRegisterCount(
  sketches: { dataProviders: number; maxSize: number },
  noise: { duchies: number; registers: number; tuples: number },
): number {
  return sketches.dataProviders * sketches.maxSize + noise.duchies * (noise.registers + noise.tuples);
}
