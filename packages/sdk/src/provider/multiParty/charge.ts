import type { PlainSpec } from '@measurement-exchange/contract';
import { type MpcRelease, mpcCharge } from '../../privacy/index.ts';
import type { PrivacyAmount } from '../ledger/amounts.ts';
import { outOfRange } from '../limits.ts';
import type { VerifiedRequisition } from '../verify.ts';

/** What a result of the duchies costs a unit of privacy. */
export function shareShuffleCharge({ spec, shareShuffle }: VerifiedRequisition): Partial<PrivacyAmount> {
  const { noiseMechanism } = shareShuffle!.config;
  const release = releaseOf(spec);
  if (noiseMechanism === 'NONE') return withoutNoise(release);
  try {
    return mpcCharge({ noiseMechanism, ...release });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw outOfRange('privacyParams', `are none that duchies can meet: ${error.message}`);
  }
}

type Release = MpcRelease extends infer R ? (R extends unknown ? Omit<R, 'noiseMechanism'> : never) : never;

/** verifyShareShuffle has checked the type, and measurementSpecViolations that the parameters are present. */
function releaseOf(spec: PlainSpec): Release {
  switch (spec.measurementType) {
    case 'REACH':
      return { measurementType: 'REACH', reachPrivacyParams: spec.reach.privacyParams! };
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams } = spec.reachAndFrequency;
      return {
        measurementType: 'REACH_AND_FREQUENCY',
        reachPrivacyParams: reachPrivacyParams!,
        frequencyPrivacyParams: frequencyPrivacyParams!,
      };
    }
    default:
      throw new Error(`${spec.measurementType} is not computed by duchies.`);
  }
}

/** A provider that accepts this gives up the promise. What was asked for still counts, so that it runs out. */
function withoutNoise(release: Release): Partial<PrivacyAmount> {
  const params = [
    release.reachPrivacyParams,
    ...(release.measurementType === 'REACH' ? [] : [release.frequencyPrivacyParams]),
  ];
  return {
    epsilon: params.reduce((sum, { epsilon }) => sum + epsilon, 0),
    delta: params.reduce((sum, { delta }) => sum + delta, 0),
  };
}
