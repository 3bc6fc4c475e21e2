/** The protocols that a run uses, and the roles of the three duchies in them. */
import type { DuchyRole, MpcNoiseMechanism } from '@measurement-exchange/contract';
import type { Config } from '@measurement-exchange/exchange/config';
import { PROTOCOL_MATH } from '@measurement-exchange/mpc/protocols';
import { type Place, placesOf } from './places.ts';

export const [ALPHA, BETA, GAMMA] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'] as const;

export interface Family {
  /** The role of each duchy. */
  roles: Record<string, DuchyRole>;
  /** The stages that a computation can be in. */
  places: Place[];
  /** The configuration of the protocols with this noise. */
  protocolsWith(noiseMechanism: MpcNoiseMechanism): Pick<Config, 'protocols'>;
}

export const SHUFFLE: Family = {
  roles: { [ALPHA]: 'FIRST_WORKER', [BETA]: 'SECOND_WORKER', [GAMMA]: 'AGGREGATOR' },
  places: placesOf([PROTOCOL_MATH.honestMajorityShareShuffle.stages]),
  protocolsWith: (noiseMechanism) => ({
    protocols: {
      honestMajorityShareShuffle: {
        ...{ firstWorker: ALPHA, secondWorker: BETA, aggregator: GAMMA, noiseMechanism },
        ...{ reachRingModulus: 127, reachAndFrequencyRingModulus: 127 },
      },
    },
  }),
};

/** Privacy parameters that need little noise, so that the stages are short. */
const HIDING = { epsilon: 1, delta: 1e-5 };

/**
 * The two Liquid Legions protocols, whose duchies form a ring. One protocol computes only reach, and the other computes
 * reach and frequency.
 */
export const RING: Family = {
  roles: { [ALPHA]: 'WORKER', [BETA]: 'WORKER', [GAMMA]: 'AGGREGATOR' },
  places: placesOf([PROTOCOL_MATH.reachOnlyLiquidLegionsV2.stages, PROTOCOL_MATH.liquidLegionsV2.stages]),
  protocolsWith: (noiseMechanism) => {
    const ring = {
      ...{ workers: [ALPHA, BETA], aggregator: GAMMA, noiseMechanism, decayRate: 8, maxSize: 500 },
      ...{ histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
    };
    return {
      protocols: {
        reachOnlyLiquidLegionsV2: ring,
        liquidLegionsV2: { ...ring, samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
      },
    };
  },
};
