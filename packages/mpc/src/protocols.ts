/** The protocols that duchies compute. A new one is a folder in `protocols/` and a line here. */
import type { Protocol, ProtocolConfig } from '@measurement-exchange/contract';
import * as shareShuffleCharge from './protocols/honestMajorityShareShuffle/charge.ts';
import * as shareShuffleConfig from './protocols/honestMajorityShareShuffle/config.ts';
import * as shareShuffleLimits from './protocols/honestMajorityShareShuffle/limits.ts';
import * as legionsCharge from './protocols/liquidLegionsV2/charge.ts';
import * as legionsConfig from './protocols/liquidLegionsV2/config.ts';
import * as legionsLimits from './protocols/liquidLegionsV2/limits.ts';
import type { ProtocolMath } from './protocols/protocol.ts';
import * as reachOnlyCharge from './protocols/reachOnlyLiquidLegionsV2/charge.ts';
import * as reachOnlyConfig from './protocols/reachOnlyLiquidLegionsV2/config.ts';
import * as reachOnlyLimits from './protocols/reachOnlyLiquidLegionsV2/limits.ts';

export type MpcProtocol = Exclude<Protocol, 'direct'>;
export type MpcConfig<P extends MpcProtocol> = NonNullable<ProtocolConfig[P]>;

export const PROTOCOL_MATH = {
  honestMajorityShareShuffle: { ...shareShuffleConfig, ...shareShuffleLimits, ...shareShuffleCharge },
  reachOnlyLiquidLegionsV2: { ...reachOnlyConfig, ...reachOnlyLimits, ...reachOnlyCharge },
  liquidLegionsV2: { ...legionsConfig, ...legionsLimits, ...legionsCharge },
} satisfies { [P in MpcProtocol]: ProtocolMath<MpcConfig<P>, unknown> };

/** The parameters that the duchies of a protocol agree on. */
export type MpcParameters<P extends MpcProtocol> = ReturnType<(typeof PROTOCOL_MATH)[P]['parametersOf']>;

/** The mathematics of one protocol, whichever it is. */
export function protocolMath<P extends MpcProtocol>(
  protocol: P,
): ProtocolMath<MpcConfig<P>, MpcParameters<P>> {
  return PROTOCOL_MATH[protocol] as unknown as ProtocolMath<MpcConfig<P>, MpcParameters<P>>;
}
