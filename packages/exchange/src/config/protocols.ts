/** The schema, defaults, and limits of the `protocols` setting. */
import {
  frequencySketchMembers,
  isName,
  liquidLegionsViolations,
  MAX_RING_MODULUS,
  MPC_NOISE_MECHANISMS,
  sketchMembers,
} from '@measurement-exchange/contract';
import { enumOf, nameOf, number, object, partial } from '@measurement-exchange/contract/schema';
import type { DuchyOperators } from '../domain/protocol.ts';
import { type Option, optionsOf, type Protocols } from '../domain/protocolOptions.ts';
import type { ShareShuffleSetting } from '../domain/shareShuffle.ts';

export const SHARE_SHUFFLE_DEFAULTS = {
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  reachRingModulus: MAX_RING_MODULUS,
  reachAndFrequencyRingModulus: MAX_RING_MODULUS,
} as const;

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

const duchy = nameOf('duchy');
const { workers, aggregator, decayRate, maxSize, ...withDefault } = sketchMembers;
const reachOnly = { workers, aggregator, decayRate, maxSize, ...partial(withDefault) };

/** The `protocols` setting in the configuration file. Members that have a default are optional. */
export const protocolSettings = object(
  partial({
    honestMajorityShareShuffle: object({
      ...{ firstWorker: duchy, secondWorker: duchy, aggregator: duchy },
      ...partial({
        noiseMechanism: enumOf(MPC_NOISE_MECHANISMS),
        reachRingModulus: number(),
        reachAndFrequencyRingModulus: number(),
      }),
    }),
    reachOnlyLiquidLegionsV2: object(reachOnly),
    liquidLegionsV2: object({ ...reachOnly, ...partial(frequencySketchMembers) }),
  }),
);

export function withProtocolDefaults({
  honestMajorityShareShuffle: shuffle,
  reachOnlyLiquidLegionsV2: reachOnly,
  liquidLegionsV2: legions,
}: Protocols): Protocols {
  return {
    ...(shuffle && { honestMajorityShareShuffle: { ...SHARE_SHUFFLE_DEFAULTS, ...shuffle } }),
    ...(reachOnly && { reachOnlyLiquidLegionsV2: { ...REACH_ONLY_DEFAULTS, ...reachOnly } }),
    ...(legions && { liquidLegionsV2: { ...LIQUID_LEGIONS_DEFAULTS, ...legions } }),
  };
}

/** Returns the path of a protocol's settings for error messages, such as `protocols.liquidLegionsV2`. */
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
    // Accept only MAX_RING_MODULUS, which is a prime number. Computing reach requires a prime modulus, and some data
    // providers reject smaller moduli.
    if (modulus === MAX_RING_MODULUS) continue;
    const size = modulus < MAX_RING_MODULUS ? 'small' : 'large';
    problems.push(`${place}.${field} ${modulus} is too ${size}. Set ${MAX_RING_MODULUS}.`);
  }
  return problems;
}

/** Reports protocols without noise, because production requires noise on every result. */
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

/** Warns about Liquid Legions protocols, because a dishonest aggregator could learn more than the result. */
export function ringWarnings(protocols: Protocols): string[] {
  return optionsOf(protocols)
    .filter(({ protocol }) => protocol !== 'honestMajorityShareShuffle')
    .map(
      (option) =>
        `${at(option)} is enabled. Its aggregator, together with a data provider or by lying, can learn who has chosen ` +
        'registers: a sketch may hold a register many times. Name in duchyOperators whose duchy is whose.',
    );
}
