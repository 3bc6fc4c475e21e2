/** Selects the protocol of a measurement, once, at its creation. */
import type { MeasurementType, Protocol } from '@measurement-exchange/contract';

/** Multi-party protocols in order of preference, and the measurement types each one computes. */
const MULTI_PARTY: [Exclude<Protocol, 'direct'>, MeasurementType[]][] = [
  ['honestMajorityShareShuffle', ['REACH', 'REACH_AND_FREQUENCY']],
  ['reachOnlyLiquidLegionsV2', ['REACH']],
  ['liquidLegionsV2', ['REACH', 'REACH_AND_FREQUENCY']],
];

/** `supported` holds, per data provider, the multi-party protocols it can take part in. */
export function chooseProtocol(
  type: MeasurementType | undefined,
  supported: readonly Protocol[][],
  enabled: ReadonlySet<Protocol>,
): Protocol {
  if (type === undefined || supported.length < 2) return 'direct';
  const choice = MULTI_PARTY.find(
    ([protocol, types]) =>
      types.includes(type) &&
      enabled.has(protocol) &&
      supported.every((provider) => provider.includes(protocol)),
  );
  return choice?.[0] ?? 'direct';
}

/** Tells the consumer that the reach of several providers cannot be deduplicated from direct results. */
export function reachIsNotDeduplicated(
  type: MeasurementType | undefined,
  protocol: Protocol,
  providers: number,
): boolean {
  return (type === 'REACH' || type === 'REACH_AND_FREQUENCY') && protocol === 'direct' && providers > 1;
}
