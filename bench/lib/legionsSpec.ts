/**
 * The measured Liquid Legions computations, and the number of curve operations that every implementation of their
 * stages needs.
 */
import type { NoiseParameters } from '@measurement-exchange/mpc/protocols/liquidLegions/noiseParameters';
import {
  type FrequencyParameters,
  frequencyParameters,
} from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';
import { reachOnlyParameters } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/limits';
import {
  CIPHERTEXT_BYTES,
  FREQUENCY_REGISTER_BYTES,
  REACH_REGISTER_BYTES,
} from '@measurement-exchange/mpc/sketches';

export const MAXIMUM_FREQUENCY = 10;
const TUPLE_BYTES = 4 * CIPHERTEXT_BYTES;

export interface LegionsSize {
  maxSize: number;
  dataProviderCount: number;
  duchyCount: number;
  privacy: { epsilon: number; delta: number };
}

/**
 * One number per kind of operation: its cost in milliseconds of processor time in one thread, or how often it occurs.
 */
export interface Operations {
  /** Multiplies the generator or a public key by a scalar. */
  fixed: number;
  decompress: number;
  /** Multiplies all points by one scalar (`multiply`), or each point by its own scalar (`multiplyEach`). */
  multiply: number;
  multiplyEach: number;
  /**
   * Partially decrypts each ciphertext with one secret key, and multiplies the result by a scalar: the same scalar for
   * all ciphertexts (`blind`), or a separate scalar for each ciphertext (`blindEach`).
   */
  blind: number;
  blindEach: number;
  map: number;
}

export function legionsSpec({ maxSize, dataProviderCount, duchyCount, privacy }: LegionsSize) {
  return {
    ...{ decayRate: 12, maxSize, samplingIndicatorSize: 10_000_000, dataProviderCount, duchyCount },
    ...{ privacyParams: privacy, histogramPrivacyParams: privacy, publisherPrivacyParams: privacy },
    ...{ frequencyPrivacyParams: privacy, maximumFrequency: MAXIMUM_FREQUENCY },
    noiseMechanism: 'DISCRETE_GAUSSIAN' as const,
  };
}

/** The size of a stage's input and output in bytes. */
interface Bytes {
  input: number;
  output: number;
}

type Counts = Partial<Operations>;

export function reachOnlyOperations(size: LegionsSize): Record<string, (bytes: Bytes) => Counts> {
  const parameters = reachOnlyParameters(legionsSpec(size));
  const noise = noiseOf(parameters);
  const registers = (bytes: number) => bytes / REACH_REGISTER_BYTES;
  return {
    setup: () => ({ fixed: 2 * noise.registers, decompress: noise.registers, map: noise.texts }),
    combine: ({ output }) => times(registers(output), { decompress: 2, fixed: 2 }),
    execute: ({ input }) => times(registers(input), { decompress: 2, blind: 1, fixed: 2 }),
    count: ({ input }) => times(registers(input), { decompress: 2, multiply: 1 }),
  };
}

/**
 * Returns one function per stage, which computes how often each operation occurs in the stage. `active` is the number
 * of active registers (registers that at least one person hits) in all sketches together.
 */
export function frequencyOperations(
  size: LegionsSize,
  active: number,
): Record<string, (bytes: Bytes) => Counts> {
  const parameters: FrequencyParameters = frequencyParameters(legionsSpec(size));
  const noise = noiseOf(parameters);
  const { noiseTupleCount } = parameters;
  const noiseTuples = { fixed: 8 * noiseTupleCount };
  const registers = (bytes: number) => bytes / FREQUENCY_REGISTER_BYTES;
  const tuples = (bytes: number) => bytes / TUPLE_BYTES;
  const comparisons = (bytes: number) => bytes / CIPHERTEXT_BYTES;
  return {
    setup: () => ({ fixed: 6 * noise.registers, decompress: noise.registers, map: noise.texts }),
    combine: ({ output }) => times(registers(output), { decompress: 6, fixed: 6 }),
    blind: ({ input }) => times(registers(input), { decompress: 6, blind: 1, fixed: 6 }),
    group: ({ input, output }) => {
      const groups = tuples(output) - noiseTupleCount;
      const others = active + parameters.duchyCount * noise.grouped - groups;
      return sum(
        times(registers(input), { decompress: 2, multiply: 1 }),
        times(groups, { decompress: 4, fixed: 8 }),
        times(others, { decompress: 4, multiplyEach: 2 }),
        noiseTuples,
      );
    },
    decryptFlags: ({ input }) =>
      sum(times(tuples(input), { decompress: 8, blindEach: 3, fixed: 8 }), noiseTuples),
    countRegisters: ({ input, output }) =>
      sum(
        times(tuples(input), { decompress: 3, multiply: 3 }),
        times(comparisons(output) / (MAXIMUM_FREQUENCY - 1), { decompress: 2 }),
        times(comparisons(output), { fixed: 2 }),
      ),
    decryptComparisons: ({ input }) => times(comparisons(input), { decompress: 2, blindEach: 1, fixed: 2 }),
    countFrequencies: ({ input }) => times(comparisons(input), { decompress: 1, multiply: 1 }),
  };
}

/**
 * Returns three numbers, which are the same for every duchy. `registers` is the number of noise registers that a duchy
 * adds. `texts` is the average number of texts that the duchy maps to the curve to make these registers. `grouped` is
 * the average number of these registers that remain in the stage `group`, which omits groups with more registers than
 * providers.
 */
function noiseOf({
  dataProviderCount: providers,
  noiseRegisterCount,
  histogramNoise,
  reachNoise,
}: NoiseParameters) {
  return {
    registers: noiseRegisterCount,
    texts: providers * histogramNoise.offset + reachNoise.offset,
    grouped: (histogramNoise.offset * providers * (providers + 1)) / 2 + reachNoise.offset,
  };
}

function times(count: number, each: Counts): Counts {
  return Object.fromEntries(Object.entries(each).map(([name, value]) => [name, count * value]));
}

function sum(...all: Counts[]): Counts {
  const total: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
  }
  return total;
}

export function yardstickMs(counts: Counts, costs: Operations): number {
  return Object.entries(counts).reduce(
    (ms, [name, count]) => ms + count * costs[name as keyof Operations],
    0,
  );
}
