/** Registers that nobody is in: how many of which kind a duchy adds, and the texts that their indexes are made from. */
import type { RandomSource } from '@measurement-exchange/sdk';
import { drawMpcNoise, drawScalars, NOBODY_INDEX } from '@measurement-exchange/sdk/liquidLegions';
import type { NoiseParameters } from './noiseParameters.ts';

/**
 * `histogram`: registers that look as if several providers had them. `publisher`: one register, many times, that hides how
 * many registers a provider has. `reach`: registers that look like people. `padding`: what makes the number the same always.
 */
export type NoiseKind = 'histogram' | 'publisher' | 'reach' | 'padding';

export interface NoiseRegister {
  kind: NoiseKind;
  /** Not a decimal number, as the index of a person's register is. */
  text: string;
}

const PADDING = 'padding_noise_register_id';

/**
 * As many registers as `noiseRegisterCount`, and how many different ones the histogram's noise adds. The same for the same
 * random source: a repeated stage must not draw other noise.
 */
export function noiseRegisters(
  parameters: NoiseParameters,
  random: RandomSource,
): { registers: NoiseRegister[]; histogramCount: number } {
  const { dataProviderCount, reachNoise, histogramNoise, publisherNoise } = parameters;
  const registers: NoiseRegister[] = [];
  const add = (kind: NoiseKind, text: string, times: number) => {
    for (let i = 0; i < times; i++) registers.push({ kind, text });
  };
  let histogramCount = 0;
  for (let times = 1; times <= dataProviderCount; times++) {
    const count = drawMpcNoise(histogramNoise, random);
    for (let i = 0; i < count; i++) add('histogram', randomText('blinded_histogram_noise', random), times);
    histogramCount += count;
  }
  add('publisher', NOBODY_INDEX, drawMpcNoise(publisherNoise, random) + parameters.knownRegisters);
  const reached = drawMpcNoise(reachNoise, random);
  for (let i = 0; i < reached; i++) add('reach', randomText('reach_dp_noise', random), 1);
  add('padding', PADDING, parameters.noiseRegisterCount - registers.length);
  return { registers, histogramCount };
}

/** A text that nobody else draws. */
export function randomText(prefix: string, random: RandomSource): string {
  return `${prefix}${BigInt(`0x${Buffer.from(drawScalars(random, 1)).toString('hex')}`)}`;
}
