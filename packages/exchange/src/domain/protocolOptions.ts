/**
 * Lists the multi-party protocols of this exchange, and selects the ones that a new measurement could use. protocol.ts
 * chooses one of the selected protocols.
 */
import {
  type Finding,
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
  type LiquidLegionsV2Config,
  type PlainSpec,
  type Protocol,
  type ReachOnlyLiquidLegionsV2Config,
  ringOf,
} from '@measurement-exchange/contract';
import { type CountingSpec, notUsed } from './protocolReasons.ts';
import type { ShareShuffleSetting } from './shareShuffle.ts';

export interface Protocols {
  honestMajorityShareShuffle?: ShareShuffleSetting;
  reachOnlyLiquidLegionsV2?: ReachOnlyLiquidLegionsV2Config;
  liquidLegionsV2?: LiquidLegionsV2Config;
}

export type Option =
  | { protocol: 'honestMajorityShareShuffle'; setting: ShareShuffleSetting }
  | { protocol: LiquidLegionsProtocol; setting: LiquidLegionsConfig };

export interface Candidate {
  /**
   * The spec to compute. Undefined if only the `direct` protocol is possible, because the spec cannot be decoded, the
   * spec does not measure reach, or the measurement has only one data provider.
   */
  spec: CountingSpec | undefined;
  /** The options in the order in which they are tried. The first usable option is chosen. */
  options: Option[];
  findings: Finding[];
  wish?: Protocol | undefined;
}

interface Traits {
  computes: CountingSpec['measurementType'][];
  needsPopulation: boolean;
}

/** The multi-party protocols, in the order in which they are tried. */
const TRAITS: Record<keyof Protocols, Traits> = {
  honestMajorityShareShuffle: { computes: ['REACH', 'REACH_AND_FREQUENCY'], needsPopulation: true },
  reachOnlyLiquidLegionsV2: { computes: ['REACH'], needsPopulation: false },
  liquidLegionsV2: { computes: ['REACH_AND_FREQUENCY'], needsPopulation: false },
};
const MPC_PROTOCOLS = Object.keys(TRAITS) as (keyof Protocols)[];

export function optionsOf(enabled: Protocols): Option[] {
  return MPC_PROTOCOLS.filter((protocol) => enabled[protocol] !== undefined).map(
    (protocol) => ({ protocol, setting: enabled[protocol] }) as Option,
  );
}

export function duchiesOf({ protocol, setting }: Option): string[] {
  if (protocol !== 'honestMajorityShareShuffle') return ringOf(setting);
  return [setting.firstWorker, setting.secondWorker, setting.aggregator];
}

export function candidateOf(
  spec: PlainSpec | undefined,
  providers: number,
  enabled: Protocols,
  wish?: Protocol,
): Candidate {
  const against = (reason: string) =>
    wish === undefined || wish === 'direct' ? [] : [notUsed(wish, { field: 'protocolConfig', reason })];
  if (
    providers < 2 ||
    (spec?.measurementType !== 'REACH' && spec?.measurementType !== 'REACH_AND_FREQUENCY')
  ) {
    const findings = against('there are no people of several data providers to be counted once');
    return { spec: undefined, options: [], findings };
  }
  if (wish === 'direct') return { spec, options: [], findings: [] };
  const options = optionsOf(enabled)
    .filter(({ protocol }) => computes(protocol, spec))
    // Sort the requested protocol first. The other protocols keep their order.
    .sort((a, b) => Number(b.protocol === wish) - Number(a.protocol === wish));
  if (wish === undefined || options[0]?.protocol === wish) return { spec, options, findings: [], wish };
  const reason = computes(wish, spec)
    ? 'it is not enabled on this exchange'
    : `it does not compute ${spec.measurementType}`;
  return { spec, options, findings: against(reason) };
}

function computes(protocol: keyof Protocols, { measurementType }: CountingSpec): boolean {
  return TRAITS[protocol].computes.includes(measurementType);
}

export function needsPopulation({ protocol }: Option): boolean {
  return TRAITS[protocol].needsPopulation;
}
