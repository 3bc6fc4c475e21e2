/**
 * Draws the noise registers of each kind that a duchy adds, and returns the text from which each register's index is
 * computed. A noise register represents no person.
 */
import { drawMpcNoise, drawScalars, Keystream, NOBODY_INDEX, SCALAR_BYTES } from '../../sketches.ts';
import type { Bytes } from './blocks.ts';
import type { NoiseParameters } from './noiseParameters.ts';

/**
 * The kinds of noise registers. `histogram` registers look like registers that one or more providers have. `publisher`
 * is one register, added many times, that hides how many registers a provider has. `reach` registers look like
 * registers of people. `padding` registers keep the total number constant.
 */
export const NOISE_KINDS = ['histogram', 'publisher', 'reach', 'padding'] as const;
export type NoiseKind = (typeof NOISE_KINDS)[number];

/** The size of a noise register: one byte for its kind, followed by the number that ends its index text. */
export const NOISE_REGISTER_BYTES = 1 + SCALAR_BYTES;

/** The text that the index of each kind is computed from. For `histogram` and `reach`, a number is appended. */
const INDEX_TEXTS: Record<NoiseKind, string> = {
  histogram: 'blinded_histogram_noise',
  publisher: NOBODY_INDEX,
  reach: 'reach_dp_noise',
  padding: 'padding_noise_register_id',
};

/**
 * Draws the noise registers, and counts the distinct registers of histogram noise. The same seed returns the same
 * result, because repeating a stage must not draw new noise.
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

/**
 * Returns a noise register's index text, which never equals the index text of a person's register (a decimal number).
 */
export function indexText(kind: NoiseKind, number: Uint8Array): string {
  const hasNumber = kind === 'histogram' || kind === 'reach';
  return `${INDEX_TEXTS[kind]}${hasNumber ? BigInt(`0x${Buffer.from(number).toString('hex')}`) : ''}`;
}

export function readNoiseRegisters(registers: Uint8Array): { kind: NoiseKind; number: Uint8Array }[] {
  return Array.from({ length: registers.length / NOISE_REGISTER_BYTES }, (_, i) => {
    const register = registers.subarray(i * NOISE_REGISTER_BYTES, (i + 1) * NOISE_REGISTER_BYTES);
    return { kind: NOISE_KINDS[register[0]!]!, number: register.subarray(1) };
  });
}
