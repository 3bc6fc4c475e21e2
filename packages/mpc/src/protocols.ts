/** The protocols that duchies compute. A new one is a folder in `protocols/` and a line here. */
import { PROTOCOLS, type Protocol, type ProtocolConfig } from '@measurement-exchange/contract';
import * as shareShuffleCharge from './protocols/honestMajorityShareShuffle/charge.ts';
import * as shareShuffleConfig from './protocols/honestMajorityShareShuffle/config.ts';
import * as shareShuffleLimits from './protocols/honestMajorityShareShuffle/limits.ts';
import * as shareShuffleStages from './protocols/honestMajorityShareShuffle/stages.ts';
import * as legionsCharge from './protocols/liquidLegionsV2/charge.ts';
import * as legionsConfig from './protocols/liquidLegionsV2/config.ts';
import * as legionsLimits from './protocols/liquidLegionsV2/limits.ts';
import * as legionsStages from './protocols/liquidLegionsV2/stages.ts';
import type { ProtocolMath } from './protocols/protocol.ts';
import * as reachOnlyCharge from './protocols/reachOnlyLiquidLegionsV2/charge.ts';
import * as reachOnlyConfig from './protocols/reachOnlyLiquidLegionsV2/config.ts';
import * as reachOnlyLimits from './protocols/reachOnlyLiquidLegionsV2/limits.ts';
import * as reachOnlyStages from './protocols/reachOnlyLiquidLegionsV2/stages.ts';

export type MpcProtocol = Exclude<Protocol, 'direct'>;
export type MpcConfig<P extends MpcProtocol> = NonNullable<ProtocolConfig[P]>;

export const PROTOCOL_MATH = {
  honestMajorityShareShuffle: {
    ...{ ...shareShuffleConfig, ...shareShuffleStages, ...shareShuffleLimits, ...shareShuffleCharge },
  },
  reachOnlyLiquidLegionsV2: {
    ...reachOnlyConfig,
    ...reachOnlyStages,
    ...reachOnlyLimits,
    ...reachOnlyCharge,
  },
  liquidLegionsV2: { ...legionsConfig, ...legionsStages, ...legionsLimits, ...legionsCharge },
} satisfies { [P in MpcProtocol]: ProtocolMath<MpcConfig<P>, unknown> };

export const MPC_PROTOCOLS = PROTOCOLS.filter((name) => name !== 'direct');

/** The parameters that the duchies of a protocol agree on. */
export type MpcParameters<P extends MpcProtocol> = ReturnType<(typeof PROTOCOL_MATH)[P]['parametersOf']>;

/** The names of the functions that the mills of duchies run for a protocol. */
export type MpcStage<P extends MpcProtocol> = NonNullable<(typeof PROTOCOL_MATH)[P]['stages'][number]['run']>;

/** The mathematics of one protocol, whichever it is. */
export function protocolMath<P extends MpcProtocol>(
  protocol: P,
): ProtocolMath<MpcConfig<P>, MpcParameters<P>> {
  return PROTOCOL_MATH[protocol] as unknown as ProtocolMath<MpcConfig<P>, MpcParameters<P>>;
}
