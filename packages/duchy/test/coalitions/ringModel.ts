/**
 * A plaintext model of the numbers that a duchy in a ring can count in sketches and noise. ring.test.ts checks this
 * model against real messages, so tests of many runs can skip the encryption.
 */
import type { NoiseParameters } from '@measurement-exchange/mpc/protocols/liquidLegions/noiseParameters';
import {
  drawNoiseRegisters,
  readNoiseRegisters,
} from '@measurement-exchange/mpc/protocols/liquidLegions/noiseRegisters';
import { drawNoiseTuples } from '@measurement-exchange/mpc/protocols/liquidLegions/noiseTuples';
import type { FrequencyParameters } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';

/** A register that a provider uploads, in plaintext. An honest sketch has each index at most once. */
export interface PlainRegister {
  index: string;
  /**
   * The key of the register. The key `destroyed` means that the register has several people, and `histogram` marks
   * noise.
   */
  key: string;
  count: number;
}

/** The number of noise registers and tuples of each kind, from one duchy or several. */
export interface Noise {
  reach: number;
  publisher: number;
  /** The number of noise groups with one register, with two registers, and so on. */
  histogram: number[];
  /** The number of noise tuples with frequency 1, with frequency 2, and so on. */
  frequency: number[];
  several: number;
  /** The number of duchies that drew this noise. */
  duchies: number;
}

export interface View {
  /** The number of indexes with one register, with two registers, and so on. */
  groups: number[];
  publisher: number;
  padding: number;
  histogram: number;
  destroyed: number;
  several: number;
  frequency: number[];
}

/** Draws a duchy's noise from seeds, using the product's code. */
export function drawNoise(
  parameters: NoiseParameters & Partial<FrequencyParameters>,
  seeds: { registers: Uint8Array; tuples: Uint8Array },
): Noise {
  const { dataProviderCount, maximumFrequency = 0 } = parameters;
  const { registers } = drawNoiseRegisters(0, { parameters, seed: seeds.registers });
  const noise: Noise = {
    ...{ reach: 0, publisher: 0, several: 0, duchies: 1 },
    histogram: Array(dataProviderCount).fill(0),
    frequency: Array(maximumFrequency).fill(0),
  };
  const copies = new Map<string, number>();
  for (const { kind, number } of readNoiseRegisters(registers)) {
    if (kind === 'reach' || kind === 'publisher') noise[kind]++;
    if (kind !== 'histogram') continue;
    const name = Buffer.from(number).toString('hex');
    copies.set(name, (copies.get(name) ?? 0) + 1);
  }
  for (const times of copies.values()) noise.histogram[times - 1]!++;
  if (maximumFrequency > 0) {
    const tuples = drawNoiseTuples(0, {
      parameters: parameters as FrequencyParameters,
      seed: seeds.tuples,
    });
    for (const what of tuples) {
      if (what === 0) noise.several++;
      else if (what <= maximumFrequency) noise.frequency[what - 1]!++;
    }
  }
  return noise;
}

export function sumOf(parts: readonly Noise[]): Noise {
  const sum = (of: (noise: Noise) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    reach: sum(({ reach }) => reach),
    publisher: sum(({ publisher }) => publisher),
    histogram: parts[0]!.histogram.map((_, i) => sum(({ histogram }) => histogram[i]!)),
    frequency: parts[0]!.frequency.map((_, i) => sum(({ frequency }) => frequency[i]!)),
    several: sum(({ several }) => several),
    duchies: sum(({ duchies }) => duchies),
  };
}

/**
 * Returns the view of an aggregator. Each sketch has `maxSize` registers, and registers that are not listed are empty.
 */
export function viewOf(
  parameters: NoiseParameters & Partial<FrequencyParameters>,
  sketches: readonly PlainRegister[][],
  noise: Noise,
): View {
  const { dataProviderCount: providers, noiseRegisterCount, noiseTupleCount = 0, maxSize } = parameters;
  const byIndex = Map.groupBy(sketches.flat(), ({ index }) => index);
  const view: View = {
    groups: noise.histogram.map((count, i) => count + (i === 0 ? noise.reach : 0)),
    publisher: noise.publisher + sketches.reduce((empty, sketch) => empty + maxSize - sketch.length, 0),
    padding: noise.duchies * noiseRegisterCount - noise.reach - noise.publisher,
    histogram: noise.histogram.reduce((sum, count) => sum + count, 0),
    destroyed: noise.duchies * noiseTupleCount + noise.reach - noise.several,
    several: noise.several,
    frequency: [...noise.frequency],
  };
  noise.histogram.forEach((count, i) => {
    view.padding -= (i + 1) * count;
  });
  for (const count of noise.frequency) view.destroyed -= count;
  for (const registers of byIndex.values()) {
    if (registers.length > providers) continue;
    view.groups[registers.length - 1]!++;
    const [{ key }] = registers as [PlainRegister];
    if (registers.some((register) => register.key !== key)) view.several++;
    else if (key === 'destroyed') view.destroyed++;
    else if (key === 'histogram') view.histogram++;
    else {
      const sum = registers.reduce((total, { count }) => total + count, 0);
      // A sum below 1, or above the highest frequency, counts as the highest frequency.
      const highest = view.frequency.length;
      const frequency = sum >= 1 && sum < highest ? sum : highest;
      if (highest > 0) view.frequency[frequency - 1]!++;
    }
  }
  return view;
}

/** Returns the aggregator's estimate of the number of registers in use. The aggregator calculates the reach from it. */
export function registersOf(parameters: NoiseParameters, { groups, histogram }: View): number {
  const used = groups.reduce((sum, count) => sum + count, 0) - histogram;
  return used - parameters.duchyCount * parameters.reachNoise.offset;
}
