/**
 * What a duchy of a ring can count, in plaintext: of sketches, and of the noise that duchies draw. ring.test.ts holds this
 * model against the bytes of whole computations; the comparisons of many runs then need no ciphertexts.
 */
import type { NoiseParameters } from '@measurement-exchange/mpc/protocols/liquidLegions/noiseParameters';
import {
  drawNoiseRegisters,
  readNoiseRegisters,
} from '@measurement-exchange/mpc/protocols/liquidLegions/noiseRegisters';
import { drawNoiseTuples } from '@measurement-exchange/mpc/protocols/liquidLegions/noiseTuples';
import type { FrequencyParameters } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';

/** A register that a provider uploads. An honest one has each index once. */
export interface PlainRegister {
  index: string;
  /** `destroyed` and `histogram` are the special keys. */
  key: string;
  count: number;
}

/** How many registers and tuples of noise there are of each kind: of one duchy, or of several. */
export interface Noise {
  reach: number;
  publisher: number;
  /** By how many registers a group has, from 1 on. */
  histogram: number[];
  /** By frequency, from 1 on. */
  frequency: number[];
  several: number;
  /** Duchies whose noise this is. */
  duchies: number;
}

export interface View {
  /** Indexes by how many registers they have, from 1 on. */
  groups: number[];
  publisher: number;
  padding: number;
  histogram: number;
  destroyed: number;
  several: number;
  frequency: number[];
}

/** What a duchy draws from a seed, by the code of the product. */
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

/** Of sketches that have `maxSize` registers each, those that are not listed being empty. */
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
      // What is equal to none of the lower frequencies counts as the highest one.
      const highest = view.frequency.length;
      const frequency = sum >= 1 && sum < highest ? sum : highest;
      if (highest > 0) view.frequency[frequency - 1]!++;
    }
  }
  return view;
}

/** What the aggregator tells the consumer of the registers in use. */
export function registersOf(parameters: NoiseParameters, { groups, histogram }: View): number {
  const used = groups.reduce((sum, count) => sum + count, 0) - histogram;
  return used - parameters.duchyCount * parameters.reachNoise.offset;
}
