import { enumOf, integer, nameOf, object, optional, type Static, sha256 } from '../schema.ts';
import { MEASUREMENT_TYPES, MPC_NOISE_MECHANISMS } from '../states.ts';

/** A value of the ring is one byte on the wire, below 2^7, so that a packed varint is one byte as well. */
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

export const ProtocolConfig = object(
  {
    measurementType: optional(enumOf(MEASUREMENT_TYPES)),
    direct: optional(object({})),
    liquidLegionsV2: optional(object({})),
    reachOnlyLiquidLegionsV2: optional(object({})),
    honestMajorityShareShuffle: optional(ShareShuffleConfig),
  },
  'Exactly one protocol member is set.',
);
export type ProtocolConfig = Static<typeof ProtocolConfig>;
