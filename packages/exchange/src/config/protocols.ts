/** The setting `protocols`: what it is by default, and what it may be. */
import { isName, liquidLegionsViolations, MAX_RING_MODULUS } from '@measurement-exchange/contract';
import { type DuchyOperators, type Option, optionsOf, type Protocols } from '../domain/protocol.ts';
import type { ShareShuffleSetting } from '../domain/shareShuffle.ts';

type Defaults = Pick<
  ShareShuffleSetting,
  'noiseMechanism' | 'reachRingModulus' | 'reachAndFrequencyRingModulus'
>;
export const SHARE_SHUFFLE_DEFAULTS: Defaults = {
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  reachRingModulus: MAX_RING_MODULUS,
  reachAndFrequencyRingModulus: MAX_RING_MODULUS,
};

const HIDING = { epsilon: 0.1, delta: 1e-9 };
export const REACH_ONLY_DEFAULTS = {
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  histogramPrivacyParams: HIDING,
  publisherPrivacyParams: HIDING,
} as const;
export const LIQUID_LEGIONS_DEFAULTS = {
  ...REACH_ONLY_DEFAULTS,
  samplingIndicatorSize: 10_000_000,
  maximumFrequency: 10,
} as const;

/** Where problems are. */
export const at = ({ protocol }: Pick<Option, 'protocol'>) => `protocols.${protocol}`;

export function protocolProblems(protocols: Protocols): string[] {
  return optionsOf(protocols).flatMap((option) =>
    option.protocol === 'honestMajorityShareShuffle'
      ? shareShuffleProblems(option.setting, at(option))
      : liquidLegionsViolations(option.setting).map(
          ({ field, description }) => `${at(option)}.${field} ${description}.`,
        ),
  );
}

function shareShuffleProblems(setting: ShareShuffleSetting, place: string): string[] {
  const duchies = [setting.firstWorker, setting.secondWorker, setting.aggregator];
  const problems = duchies
    .filter((duchy, i) => duchies.indexOf(duchy) !== i)
    .map((duchy) => `${place}: ${duchy} has two roles. Name three duchies, each run by somebody else.`);
  for (const field of ['reachRingModulus', 'reachAndFrequencyRingModulus'] as const) {
    const modulus = setting[field];
    // A smaller one is not taken by providers of the public system; this one is a prime, as reach needs it.
    if (modulus === MAX_RING_MODULUS) continue;
    const size = modulus < MAX_RING_MODULUS ? 'small' : 'large';
    problems.push(`${place}.${field} ${modulus} is too ${size}. Set ${MAX_RING_MODULUS}.`);
  }
  return problems;
}

/** In production every result is noised. */
export function noiseProblems(protocols: Protocols): string[] {
  return optionsOf(protocols)
    .filter(({ setting }) => setting.noiseMechanism === 'NONE')
    .map(
      (option) => `${at(option)}.noiseMechanism NONE is for development mode only. Set DISCRETE_GAUSSIAN.`,
    );
}

export function operatorProblems(operators: DuchyOperators): string[] {
  return Object.keys(operators)
    .filter((duchy) => !isName('duchy', duchy))
    .map(
      (key) => `duchyOperators: ${JSON.stringify(key)} is not the name of a duchy, such as duchies/alpha.`,
    );
}

/** What an operator who enables a ring has to know. */
export function ringWarnings(protocols: Protocols): string[] {
  return optionsOf(protocols)
    .filter(({ protocol }) => protocol !== 'honestMajorityShareShuffle')
    .map(
      (option) =>
        `${at(option)} is enabled. Its aggregator, together with a data provider or by lying, can learn who has chosen ` +
        'registers: a sketch may hold a register many times. Name in duchyOperators whose duchy is whose.',
    );
}
