/** Determines which duchies compute a measurement, and whether this consumer accepts them. */
import {
  type Measurement,
  type PlainSpec,
  PROTOCOLS,
  type ProtocolConfig,
  wrapsAround,
} from '@measurement-exchange/contract';
import {
  MPC_PROTOCOLS,
  type MpcConfig,
  type MpcProtocol,
  protocolMath,
} from '@measurement-exchange/mpc/protocols';
import { Fault } from '../verification/fault.ts';
import type { Dependencies } from './deps.ts';

/** The reason that a consumer does not accept a measurement's protocol. */
export type ProtocolFault =
  /** `protocolConfig` has no protocol, several protocols, or a protocol with invalid parameters. */
  | 'PROTOCOL_UNSUPPORTED'
  /**
   * The protocol cannot compute the requested type, sample, or maximum frequency, or the result states a different
   * protocol.
   */
  | 'PROTOCOL_MISMATCH'
  /** This consumer does not accept one of the duchies. */
  | 'DUCHY_UNKNOWN'
  /** One duchy has two roles, so it would see data that must stay separate. */
  | 'DUCHY_REPEATED';

export class ProtocolError extends Fault<ProtocolFault> {
  override readonly name = 'ProtocolError';
}

/** A measurement's protocol, and the duchies that compute it. */
export type DuchyProtocol = {
  [P in MpcProtocol]: { protocol: P; config: MpcConfig<P>; aggregator: string; workers: string[] };
}[MpcProtocol];

/** Reads the protocol and the duchies from `protocolConfig`. Returns undefined if no duchies are involved. */
export function duchyProtocolOf(protocolConfig: ProtocolConfig = {}): DuchyProtocol | undefined {
  const protocol = MPC_PROTOCOLS.find((name) => protocolConfig[name] !== undefined);
  if (protocol === undefined) return undefined;
  const config = protocolConfig[protocol]!;
  const roles = protocolMath(protocol).rolesOf(config as never);
  const workers = roles.filter(([, role]) => role !== 'AGGREGATOR').map(([duchy]) => duchy);
  return { protocol, config, aggregator: config.aggregator, workers } as DuchyProtocol;
}

type Asked = Pick<PlainSpec, 'measurementType' | 'vidSamplingInterval'> &
  Partial<Record<'reachAndFrequency', { maximumFrequency: number }>>;

/**
 * Returns the measurement's protocol and duchies, or undefined if no duchies compute it. Throws `ProtocolError` if
 * `protocolConfig` is invalid or does not fit the request, or if the consumer does not accept one of the duchies.
 */
export function acceptedProtocol(
  { duchies = [] }: Pick<Dependencies, 'duchies'>,
  { protocolConfig = {} }: Pick<Measurement, 'protocolConfig'>,
  asked: Asked,
): DuchyProtocol | undefined {
  requireOne(protocolConfig);
  const computed = duchyProtocolOf(protocolConfig);
  const { vidSamplingInterval: sample } = asked;
  const takesWrapped = computed !== undefined && protocolMath(computed.protocol).takesWrappedSamples;
  if (sample !== undefined && wrapsAround(sample) && !takesWrapped) {
    throw new ProtocolError(
      'PROTOCOL_MISMATCH',
      `${computed?.protocol ?? 'each data provider'} computes it, and has no sample that goes beyond 1: choose one with ` +
        'start + width of at most 1',
    );
  }
  if (computed === undefined) return undefined;
  const participants = [computed.aggregator, ...computed.workers];
  for (const [i, duchy] of participants.entries()) {
    if (participants.indexOf(duchy) !== i) {
      throw new ProtocolError('DUCHY_REPEATED', `${duchy} has two roles`);
    }
    if (!duchies.includes(duchy)) {
      throw new ProtocolError(
        'DUCHY_UNKNOWN',
        `${duchy} is to compute it, which is not among the duchies that this consumer accepts: name it there and ` +
          'trust its root, once you have both from its operator',
      );
    }
  }
  requireFit(computed, asked);
  return computed;
}

function requireOne(config: ProtocolConfig): void {
  const named = PROTOCOLS.filter((protocol) => config[protocol] !== undefined);
  if (named.length === 1) return;
  throw new ProtocolError(
    'PROTOCOL_UNSUPPORTED',
    `its protocolConfig names ${named.join(' and ') || 'no protocol'}: it must be exactly one`,
  );
}

function requireFit(computed: DuchyProtocol, { measurementType, reachAndFrequency }: Asked): void {
  const { protocol } = computed;
  const { computes, violationsOf, maximumFrequencyOf } = protocolMath(protocol);
  if (!computes.includes(measurementType)) {
    throw new ProtocolError('PROTOCOL_MISMATCH', `${protocol} does not compute ${measurementType}`);
  }
  const [violation] = violationsOf(computed.config as never);
  if (violation !== undefined) {
    const { field, description } = violation;
    throw new ProtocolError('PROTOCOL_UNSUPPORTED', `its protocolConfig.${protocol}.${field} ${description}`);
  }
  const highest = maximumFrequencyOf(computed.config as never);
  if (reachAndFrequency !== undefined && reachAndFrequency.maximumFrequency > highest) {
    throw new ProtocolError(
      'PROTOCOL_MISMATCH',
      `${protocol} computes frequencies up to ${highest}, and ${reachAndFrequency.maximumFrequency} are asked for`,
    );
  }
}
