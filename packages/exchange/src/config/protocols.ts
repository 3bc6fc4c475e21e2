/** The setting `protocols`: what it is by default, and what it may be. */
import { MAX_RING_MODULUS } from '@measurement-exchange/contract';
import { duchiesOf, type Protocols, type ShareShuffleSetting } from '../domain/protocol.ts';

type Defaults = Pick<
  ShareShuffleSetting,
  'noiseMechanism' | 'reachRingModulus' | 'reachAndFrequencyRingModulus'
>;
export const SHARE_SHUFFLE_DEFAULTS: Defaults = {
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  reachRingModulus: MAX_RING_MODULUS,
  reachAndFrequencyRingModulus: MAX_RING_MODULUS,
};

/** Where problems are. */
export const SHARE_SHUFFLE = 'protocols.honestMajorityShareShuffle';

export function protocolProblems({ honestMajorityShareShuffle: setting }: Protocols): string[] {
  if (setting === undefined) return [];
  const duchies = duchiesOf(setting);
  const problems = duchies
    .filter((duchy, i) => duchies.indexOf(duchy) !== i)
    .map(
      (duchy) => `${SHARE_SHUFFLE}: ${duchy} has two roles. Name three duchies, each run by somebody else.`,
    );
  for (const field of ['reachRingModulus', 'reachAndFrequencyRingModulus'] as const) {
    const modulus = setting[field];
    // A smaller one is not taken by providers of the public system; this one is a prime, as reach needs it.
    if (modulus === MAX_RING_MODULUS) continue;
    const size = modulus < MAX_RING_MODULUS ? 'small' : 'large';
    problems.push(`${SHARE_SHUFFLE}.${field} ${modulus} is too ${size}. Set ${MAX_RING_MODULUS}.`);
  }
  return problems;
}

/** In production every result is noised. */
export function noiseProblems({ honestMajorityShareShuffle: setting }: Protocols): string[] {
  if (setting?.noiseMechanism !== 'NONE') return [];
  return [`${SHARE_SHUFFLE}.noiseMechanism NONE is for development mode only. Set DISCRETE_GAUSSIAN.`];
}
