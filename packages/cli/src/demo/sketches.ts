/** The sketches of the demo: as exact as they can be when counting them takes only seconds. */

/**
 * A sketch is most exact with a low decay rate, and then has room for few people. So the exchange that the demo starts has
 * such sketches, and the demo measures a sample that fits into them.
 */
const SKETCH = { decayRate: 1, maxSize: 600 };
const PEOPLE_IN_SAMPLE = 1200;

/** Each register of a sketch represents many people, which amplifies noise, so these measurements use less of it. */
export const PRIVACY = { epsilon: 1, delta: 1e-7 };
/** Duchies add fewer registers of noise to hide from the aggregator what is not released. */
const HIDING = { histogramPrivacyParams: PRIVACY, publisherPrivacyParams: PRIVACY };

/** Returns the share of the population that a sketch has room for. */
export function sampleOf(population: number): { start: number; width: number } {
  return { start: 0, width: Math.min(1, PEOPLE_IN_SAMPLE / population) };
}

/** Sets the size and the noise of the sketches in an exchange's protocols. */
export function withSketches<P extends object>(protocols: P): P {
  const entries = Object.entries(protocols).map(([name, config]) => [
    name,
    'maxSize' in config ? { ...config, ...SKETCH, ...HIDING } : config,
  ]);
  return Object.fromEntries(entries) as P;
}

export const ABOUT_REACH =
  'For publishers that have no list of all people in common: each uploads an encrypted sketch, in which people share ' +
  'registers. The sketches of the demo are small, so that counting them takes seconds, and the interval is wide. ' +
  'Sketches of 100,000 registers are 0.9 % off, and take minutes.';
export const ABOUT_FREQUENCY =
  'Sketches that also tell how often people were reached. Only registers with exactly one person tell it: about 200 here, ' +
  'so the shares are rough.';
