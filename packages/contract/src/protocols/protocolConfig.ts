import { invalid } from '../errors/errors.ts';
import {
  anyJson,
  array,
  enumOf,
  integer,
  nameOf,
  number,
  object,
  optional,
  type Static,
  sha256,
} from '../json/schema.ts';
import { MEASUREMENT_TYPES, MPC_NOISE_MECHANISMS, PROTOCOLS, type Protocol } from '../values/states.ts';
import {
  MAX_LEGIONS_FREQUENCY,
  MAX_LEGIONS_WORKERS,
  MAX_SAMPLING_INDICATOR_SIZE,
  MAX_SKETCH_SIZE,
} from './liquidLegionsLimits.ts';

/**
 * The maximum ring modulus. With this limit, every ring value is below 2^7 and takes one byte on the wire, even as a
 * packed varint.
 */
export const MAX_RING_MODULUS = 127;

export const ShareShuffleConfig = object(
  {
    firstWorker: nameOf('duchy'),
    secondWorker: nameOf('duchy'),
    aggregator: nameOf('duchy'),
    noiseMechanism: enumOf(MPC_NOISE_MECHANISMS),
    ringModulus: integer(2, MAX_RING_MODULUS),
    population: nameOf('population'),
    populationFingerprint: sha256(),
  },
  'Three duchies compute on secret shares of a vector with an entry for each virtual person of the population.',
);
export type ShareShuffleConfig = Static<typeof ShareShuffleConfig>;

const hiding = object(
  { epsilon: number({ exclusiveMinimum: 0 }), delta: number({ exclusiveMinimum: 0 }) },
  'Noise that hides what the aggregator could learn along the way; it is not in the result.',
);

/** Properties of both Liquid Legions configs, and of the exchange's settings for both protocols. */
export const sketchMembers = {
  workers: array(nameOf('duchy'), {
    minItems: 1,
    maxItems: MAX_LEGIONS_WORKERS,
    description: 'In the order in which registers go from one to the next; the aggregator comes last.',
  }),
  aggregator: nameOf('duchy'),
  noiseMechanism: enumOf(MPC_NOISE_MECHANISMS),
  decayRate: number({ exclusiveMinimum: 0 }),
  maxSize: integer(1, MAX_SKETCH_SIZE),
  histogramPrivacyParams: hiding,
  publisherPrivacyParams: hiding,
};

/** Properties that only the config of `liquidLegionsV2` has, because this protocol also measures frequencies. */
export const frequencySketchMembers = {
  samplingIndicatorSize: integer(1, MAX_SAMPLING_INDICATOR_SIZE),
  maximumFrequency: integer(2, MAX_LEGIONS_FREQUENCY),
};

export const ReachOnlyLiquidLegionsV2Config = object(
  sketchMembers,
  'Duchies count the registers of encrypted sketches, one after the other taking its key off.',
);
export type ReachOnlyLiquidLegionsV2Config = Static<typeof ReachOnlyLiquidLegionsV2Config>;

export const LiquidLegionsV2Config = object(
  { ...sketchMembers, ...frequencySketchMembers },
  'As reachOnlyLiquidLegionsV2, with a frequency in each register.',
);
export type LiquidLegionsV2Config = Static<typeof LiquidLegionsV2Config>;

/** The config of either Liquid Legions protocol, for code that both protocols share. */
export type LiquidLegionsConfig = ReachOnlyLiquidLegionsV2Config & Partial<LiquidLegionsV2Config>;

export const ProtocolConfig = object(
  {
    measurementType: optional(enumOf(MEASUREMENT_TYPES)),
    direct: optional(object({})),
    liquidLegionsV2: optional(LiquidLegionsV2Config),
    reachOnlyLiquidLegionsV2: optional(ReachOnlyLiquidLegionsV2Config),
    honestMajorityShareShuffle: optional(ShareShuffleConfig),
  },
  'Exactly one protocol member is set.',
);
export type ProtocolConfig = Static<typeof ProtocolConfig>;

/** Returns a measurement's Liquid Legions protocol and config, or undefined if it uses another protocol. */
export function liquidLegionsOf(protocolConfig: ProtocolConfig) {
  for (const protocol of ['liquidLegionsV2', 'reachOnlyLiquidLegionsV2'] as const) {
    const config: LiquidLegionsConfig | undefined = protocolConfig[protocol];
    if (config) return { protocol, config };
  }
  return undefined;
}

const wished = optional(anyJson('What is in it is ignored: `{}` is enough.'));

/** The protocol that a consumer asks for when it creates a measurement. */
export const ProtocolWish = object(
  {
    direct: wished,
    liquidLegionsV2: wished,
    reachOnlyLiquidLegionsV2: wished,
    honestMajorityShareShuffle: wished,
  } satisfies Record<Protocol, unknown>,
  'The protocol to try first, as exactly one member; where it does not fit, a finding says why, and another one is chosen.',
  ['measurementType'],
);
export type ProtocolWish = Static<typeof ProtocolWish>;

/**
 * Returns the protocol that a request asks for, or undefined if there is no `wish`. Throws if `wish` does not have
 * exactly one protocol. The error contains `field`, which is the path of `wish`.
 */
export function wishedProtocol(wish: ProtocolWish | undefined, field: string): Protocol | undefined {
  if (wish === undefined) return undefined;
  const [protocol, ...others] = PROTOCOLS.filter((name) => wish[name] !== undefined);
  if (protocol !== undefined && others.length === 0) return protocol;
  throw invalid([{ field, description: `must have exactly one of ${PROTOCOLS.join(', ')}` }]);
}
