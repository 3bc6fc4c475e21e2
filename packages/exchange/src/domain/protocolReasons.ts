/** Explains why a multi-party protocol cannot be used for a measurement. */
import {
  type Finding,
  MIN_MPC_EPSILON,
  type MpcNoiseMechanism,
  type PlainSpec,
  type PrivacyParams,
  type Protocol,
} from '@measurement-exchange/contract';
import { finding } from './findings.ts';

export type CountingSpec = Extract<PlainSpec, { measurementType: 'REACH' | 'REACH_AND_FREQUENCY' }>;

export interface Reason {
  field: string;
  reason: string;
}

export function notUsed(protocol: Protocol, { field, reason }: Reason): Finding {
  return finding('PROTOCOL_NOT_USED', field, `${protocol} is not used: ${reason}.`);
}

export function privacyReasons(spec: CountingSpec, mechanism: MpcNoiseMechanism): Reason[] {
  if (mechanism === 'NONE') return [];
  const check = (member: string, { epsilon, delta }: PrivacyParams): Reason[] => {
    const field = `measurementSpec.message.${member}`;
    return [
      ...(epsilon >= MIN_MPC_EPSILON
        ? []
        : [{ field: `${field}.epsilon`, reason: `epsilon must be at least ${MIN_MPC_EPSILON}` }]),
      ...(delta > 0 ? [] : [{ field: `${field}.delta`, reason: 'delta must be above 0' }]),
    ];
  };
  if (spec.measurementType === 'REACH') return check('reach.privacyParams', spec.reach.privacyParams!);
  const { reachPrivacyParams, frequencyPrivacyParams } = spec.reachAndFrequency;
  return [
    ...check('reachAndFrequency.reachPrivacyParams', reachPrivacyParams!),
    ...check('reachAndFrequency.frequencyPrivacyParams', frequencyPrivacyParams!),
  ];
}
