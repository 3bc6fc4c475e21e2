/** Parameters of the demo's sketches. They are as accurate as possible while counting takes only seconds. */

/**
 * A low decay rate makes a sketch more accurate, but it then holds fewer people. The demo therefore measures a sample of
 * the population that fits.
 */
const SKETCH = { decayRate: 1, maxSize: 600 };
const PEOPLE_IN_SAMPLE = 1200;

/**
 * Privacy parameters for measurements with sketches. They add less noise than usual, because each register represents many
 * people, which amplifies noise.
 */
export const PRIVACY = { epsilon: 1, delta: 1e-7 };
/**
 * Privacy parameters for the noise that hides unreleased values from the aggregator. With these, duchies add fewer noise
 * registers.
 */
const HIDING = { histogramPrivacyParams: PRIVACY, publisherPrivacyParams: PRIVACY };

/** Returns the sampling interval that selects as many people as fit into a sketch. */
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
