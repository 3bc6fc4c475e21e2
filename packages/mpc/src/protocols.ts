/** Lists the protocols that duchies can run. To add a protocol, create a folder in `protocols/` and list it here. */
import { PROTOCOLS, type Protocol, type ProtocolConfig } from '@measurement-exchange/contract';
import * as shuffleCharge from './protocols/honestMajorityShareShuffle/charge.ts';
import * as shuffleConfig from './protocols/honestMajorityShareShuffle/config.ts';
import * as shuffleLimits from './protocols/honestMajorityShareShuffle/limits.ts';
import * as shuffleStages from './protocols/honestMajorityShareShuffle/stages.ts';
import * as legionsCharge from './protocols/liquidLegionsV2/charge.ts';
import * as legionsConfig from './protocols/liquidLegionsV2/config.ts';
import * as legionsLimits from './protocols/liquidLegionsV2/limits.ts';
import * as legionsStages from './protocols/liquidLegionsV2/stages.ts';
import type { ProtocolMath } from './protocols/protocol.ts';
import * as reachCharge from './protocols/reachOnlyLiquidLegionsV2/charge.ts';
import * as reachConfig from './protocols/reachOnlyLiquidLegionsV2/config.ts';
import * as reachLimits from './protocols/reachOnlyLiquidLegionsV2/limits.ts';
import * as reachStages from './protocols/reachOnlyLiquidLegionsV2/stages.ts';

export type MpcProtocol = Exclude<Protocol, 'direct'>;
export type MpcConfig<P extends MpcProtocol> = NonNullable<ProtocolConfig[P]>;

export const PROTOCOL_MATH = {
  honestMajorityShareShuffle: { ...shuffleConfig, ...shuffleStages, ...shuffleLimits, ...shuffleCharge },
  reachOnlyLiquidLegionsV2: { ...reachConfig, ...reachStages, ...reachLimits, ...reachCharge },
  liquidLegionsV2: { ...legionsConfig, ...legionsStages, ...legionsLimits, ...legionsCharge },
} satisfies { [P in MpcProtocol]: ProtocolMath<MpcConfig<P>, unknown> };

export const MPC_PROTOCOLS = PROTOCOLS.filter((name) => name !== 'direct');

export type MpcParameters<P extends MpcProtocol> = ReturnType<(typeof PROTOCOL_MATH)[P]['parametersOf']>;

/**
 * The names of the functions that a protocol's stages run. A duchy's mills call these functions. A mill is the part of
 * a duchy's program that computes stages.
 */
export type MpcStage<P extends MpcProtocol> = NonNullable<(typeof PROTOCOL_MATH)[P]['stages'][number]['run']>;

export function protocolMath<P extends MpcProtocol>(protocol: P) {
  return PROTOCOL_MATH[protocol] as unknown as ProtocolMath<MpcConfig<P>, MpcParameters<P>>;
}
