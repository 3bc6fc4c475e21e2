/** The charge to a unit of privacy for a result of duchies. */
import type { MpcNoiseMechanism, PlainSpec } from '@measurement-exchange/contract';
import type { Charge, MpcRelease, NoiseMechanism } from '@measurement-exchange/mpc';
import { protocolMath } from '@measurement-exchange/mpc/protocols';
import type { PrivacyAmount } from '../ledger/amounts.ts';
import { outOfRange } from '../verify/limits.ts';
import type { VerifiedRequisition } from '../verify.ts';

export function computationCharge({
  spec,
  shareShuffle,
  liquidLegions,
}: VerifiedRequisition): Partial<PrivacyAmount> {
  const protocol = liquidLegions?.protocol ?? 'honestMajorityShareShuffle';
  const config = liquidLegions?.config ?? shareShuffle!.config;
  const release = releaseOf(spec);
  return chargeOf(release, config.noiseMechanism, (noiseMechanism) =>
    protocolMath(protocol).chargeOf({ noiseMechanism, ...release }, config as never, spec.nonceHashes.length),
  );
}

type Release = MpcRelease extends infer R ? (R extends unknown ? Omit<R, 'noiseMechanism'> : never) : never;

/** Refuses parameters that no noise can meet. */
function chargeOf(
  release: Release,
  noiseMechanism: MpcNoiseMechanism,
  charge: (noiseMechanism: NoiseMechanism) => Charge,
): Partial<PrivacyAmount> {
  if (noiseMechanism === 'NONE') return withoutNoise(release);
  try {
    return charge(noiseMechanism);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw outOfRange('privacyParams', `are none that duchies can meet: ${error.message}`);
  }
}

/** The protocol's verification has checked the type, and measurementSpecViolations that the parameters are present. */
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

/**
 * A provider that accepts a result without noise gives up the promise of privacy. The parameters that were asked for
 * are still charged, so that its budget runs out.
 */
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
