/** Who computes a measurement, as the exchange says, and whether this consumer accepts that. */
import {
  type Measurement,
  type PlainSpec,
  PROTOCOLS,
  type ProtocolConfig,
  type ShareShuffleConfig,
  wrapsAround,
} from '@measurement-exchange/contract';
import type { Dependencies } from './deps.ts';

/** Why a consumer does not accept the protocol of a measurement. */
export type ProtocolFault =
  /** `protocolConfig` names none, several, or one whose results cannot be opened here. */
  | 'PROTOCOL_UNSUPPORTED'
  /** Nobody computes this type or sample in that way, or the result says that it was computed in another way. */
  | 'PROTOCOL_MISMATCH'
  /** A duchy that this consumer does not accept. */
  | 'DUCHY_UNKNOWN'
  /** One duchy has two roles, and would see more than it may. */
  | 'DUCHY_REPEATED';

/** What is wrong with a protocol. */
export class ProtocolError extends Error {
  readonly code: ProtocolFault;

  constructor(code: ProtocolFault, message: string) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
  }
}

/** How duchies compute the measurement; undefined where each data provider does by itself. Throws a `ProtocolError`. */
export function acceptedProtocol(
  { duchies = [] }: Pick<Dependencies, 'duchies'>,
  { protocolConfig = {} }: Pick<Measurement, 'protocolConfig'>,
  { measurementType, vidSamplingInterval }: Pick<PlainSpec, 'measurementType' | 'vidSamplingInterval'>,
): ShareShuffleConfig | undefined {
  const shuffle = protocolOf(protocolConfig);
  if (shuffle === undefined) {
    if (vidSamplingInterval === undefined || !wrapsAround(vidSamplingInterval)) return undefined;
    throw new ProtocolError(
      'PROTOCOL_MISMATCH',
      'each data provider computes it by itself, and has no sample that goes beyond 1: choose one with start + width of at most 1',
    );
  }
  if (measurementType !== 'REACH' && measurementType !== 'REACH_AND_FREQUENCY') {
    throw new ProtocolError('PROTOCOL_MISMATCH', `duchies do not compute ${measurementType}`);
  }
  const participants = [shuffle.aggregator, shuffle.firstWorker, shuffle.secondWorker];
  for (const [i, duchy] of participants.entries()) {
    if (participants.indexOf(duchy) !== i) {
      throw new ProtocolError('DUCHY_REPEATED', `${duchy} has two of the three roles`);
    }
    if (!duchies.includes(duchy)) {
      throw new ProtocolError(
        'DUCHY_UNKNOWN',
        `${duchy} is to compute it, which is not among the duchies that this consumer accepts: name it there and ` +
          'trust its root, once you have both from its operator',
      );
    }
  }
  return shuffle;
}

function protocolOf(config: ProtocolConfig): ShareShuffleConfig | undefined {
  const named = PROTOCOLS.filter((protocol) => config[protocol] !== undefined);
  if (named.length === 1 && config.direct !== undefined) return undefined;
  if (named.length === 1 && config.honestMajorityShareShuffle !== undefined) {
    return config.honestMajorityShareShuffle;
  }
  throw new ProtocolError(
    'PROTOCOL_UNSUPPORTED',
    `its protocolConfig names ${named.join(' and ') || 'no protocol'}: results of exactly one of direct and ` +
      'honestMajorityShareShuffle can be opened',
  );
}
