/** Parameters of the demo's sketches. They make results as accurate as possible in a computation of a few seconds. */
import { HIDING } from './privacy.ts';

/**
 * A sketch with a low decay rate is more accurate, but has room for fewer people. The demo therefore measures only a
 * sample of the population. Several people can share a register, so the sample has more people than the sketch has
 * registers.
 */
const SKETCH = { decayRate: 1, maxSize: 300 };
const PEOPLE_IN_SAMPLE = 600;
const NOISE = { histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING };

/** Returns the sampling interval that selects PEOPLE_IN_SAMPLE people, or everybody in a smaller population. */
export function sampleOf(population: number): { start: number; width: number } {
  return { start: 0, width: Math.min(1, PEOPLE_IN_SAMPLE / population) };
}

/** Returns a copy of the protocols' settings, with the demo's sketch size and noise in protocols that use sketches. */
export function withSketches<P extends object>(protocols: P): P {
  const entries = Object.entries(protocols).map(([name, config]) => [
    name,
    'maxSize' in config ? { ...config, ...SKETCH, ...NOISE } : config,
  ]);
  return Object.fromEntries(entries) as P;
}

export const ABOUT_REACH =
  'For publishers that have no list of all people in common: each uploads an encrypted sketch, in which people share ' +
  'registers. The sketches of the demo are small, so that counting them takes seconds, and the interval is wide. ' +
  'Sketches of 100,000 registers are 0.9 % off, and take minutes.';
export const ABOUT_FREQUENCY =
  'Sketches that also tell how often people were reached. Only registers with exactly one person tell it: about 100 here, ' +
  'so the shares are rough.';
