/** Registers that nobody is in: how many of which kind a duchy adds, and the texts that their indexes are made from. */
import { drawMpcNoise, drawScalars, Keystream, NOBODY_INDEX, SCALAR_BYTES } from '../../sketches.ts';
import type { Bytes } from './blocks.ts';
import type { NoiseParameters } from './noiseParameters.ts';

/**
 * `histogram`: registers that look as if several providers had them. `publisher`: one register, many times, that
 * hides how many registers a provider has. `reach`: registers that look like people. `padding`: registers that keep
 * the total number the same.
 */
export const NOISE_KINDS = ['histogram', 'publisher', 'reach', 'padding'] as const;
export type NoiseKind = (typeof NOISE_KINDS)[number];

/** A noise register: its kind, then the number in the text of its index. */
export const NOISE_REGISTER_BYTES = 1 + SCALAR_BYTES;

const PADDING_INDEX = 'padding_noise_register_id';

/**
 * As many registers as `noiseRegisterCount`, and how many different ones the histogram's noise adds. The same for the same
 * seed: a repeated stage must not draw other noise.
 */
export function drawNoiseRegisters(
  _: unknown,
  { parameters, seed }: { parameters: NoiseParameters; seed: Uint8Array },
): { registers: Bytes; histogramCount: number } {
  const random = new Keystream(seed);
  const { dataProviderCount, reachNoise, histogramNoise, publisherNoise, noiseRegisterCount } = parameters;
  const registers = new Uint8Array(noiseRegisterCount * NOISE_REGISTER_BYTES);
  let at = 0;
  const add = (kind: NoiseKind, times: number, number?: Uint8Array) => {
    for (let i = 0; i < times; i++, at += NOISE_REGISTER_BYTES) {
      registers[at] = NOISE_KINDS.indexOf(kind);
      if (number !== undefined) registers.set(number, at + 1);
    }
  };
  let histogramCount = 0;
  for (let times = 1; times <= dataProviderCount; times++) {
    const count = drawMpcNoise(histogramNoise, random);
    for (let i = 0; i < count; i++) add('histogram', times, drawScalars(random, 1));
    histogramCount += count;
  }
  add('publisher', drawMpcNoise(publisherNoise, random) + parameters.knownRegisters);
  const reached = drawMpcNoise(reachNoise, random);
  for (let i = 0; i < reached; i++) add('reach', 1, drawScalars(random, 1));
  add('padding', noiseRegisterCount - at / NOISE_REGISTER_BYTES);
  return { registers, histogramCount };
}

/** The text of the index of a noise register, which is not a decimal number, as that of a person's register is. */
export function indexText(kind: NoiseKind, number: Uint8Array): string {
  switch (kind) {
    case 'histogram':
      return `blinded_histogram_noise${decimal(number)}`;
    case 'reach':
      return `reach_dp_noise${decimal(number)}`;
    case 'publisher':
      return NOBODY_INDEX;
    case 'padding':
      return PADDING_INDEX;
  }
}

/** The kind and the number of each register. */
export function readNoiseRegisters(registers: Uint8Array): { kind: NoiseKind; number: Uint8Array }[] {
  return Array.from({ length: registers.length / NOISE_REGISTER_BYTES }, (_, i) => {
    const at = i * NOISE_REGISTER_BYTES;
    return {
      kind: NOISE_KINDS[registers[at]!]!,
      number: registers.subarray(at + 1, at + NOISE_REGISTER_BYTES),
    };
  });
}

function decimal(number: Uint8Array): string {
  return String(BigInt(`0x${Buffer.from(number).toString('hex')}`));
}
