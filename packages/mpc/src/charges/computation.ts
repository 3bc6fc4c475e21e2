/**
 * The privacy cost of a result that duchies compute. A provider charges this cost to each UTC day of each reference. A
 * reference is the value that selects an event group's events in the provider's data.
 */
import type { PrivacyParams } from '@measurement-exchange/contract';
import type { MpcRelease } from '../privacy/countCost.ts';
import { type MpcConfig, type MpcProtocol, protocolMath } from '../protocols.ts';
import type { PrivacyAmount } from './amounts.ts';

/**
 * Returns the cost, which is the same for every data provider. The first argument has the privacy parameters of the
 * reach, and of the frequencies if they are requested. Throws a RangeError if no noise can meet these parameters.
 */
export function duchyCost(
  [reach, frequency]: PrivacyParams[],
  { protocol, config }: { protocol: MpcProtocol; config: MpcConfig<MpcProtocol> },
  dataProviders: number,
): Partial<PrivacyAmount> {
  const { noiseMechanism } = config;
  if (noiseMechanism === 'NONE') return withoutNoise(frequency ? [reach!, frequency] : [reach!]);
  const common = { noiseMechanism, reachPrivacyParams: reach! };
  const release: MpcRelease = frequency
    ? { ...common, measurementType: 'REACH_AND_FREQUENCY', frequencyPrivacyParams: frequency }
    : { ...common, measurementType: 'REACH' };
  return protocolMath(protocol).chargeOf(release, config as never, dataProviders);
}

/**
 * Returns the cost of a result without noise. Such a result has no privacy guarantee. The requested parameters are
 * still charged, so that the budget limits the number of such results.
 */
function withoutNoise(params: PrivacyParams[]): Partial<PrivacyAmount> {
  return {
    epsilon: params.reduce((sum, { epsilon }) => sum + epsilon, 0),
    delta: params.reduce((sum, { delta }) => sum + delta, 0),
  };
}
