/** Text that explains the protocols to users. */
import {
  type MpcNoiseMechanism,
  PROTOCOLS,
  type Protocol,
  type ProtocolConfig,
} from '@measurement-exchange/contract';

export interface ProtocolWords {
  label: string;
  /** The meaning of the protocol's figures. */
  meaning: string;
  /** How the protocol computes its figures. */
  how: string;
  /** The protocol's name in the API's documents. */
  name: string;
}

const SKETCHES = {
  meaning: 'Each person counts once, estimated from sketches. Works without a common population.',
  how: 'Publishers send encrypted sketches of the people they reached. The duchies combine them, add noise, and take the encryption off one after the other.',
};

export const PROTOCOL_WORDS: Record<Protocol, ProtocolWords> = {
  honestMajorityShareShuffle: {
    label: 'Share shuffle',
    meaning: 'Each person counts once. Three duchies compute it, exact apart from the noise.',
    how: 'Publishers split their counts into two random halves. Two duchies add noise and shuffle, the third one counts. Exact apart from the noise.',
    name: 'Honest Majority Share Shuffle',
  },
  reachOnlyLiquidLegionsV2: { label: 'Sketches', ...SKETCHES, name: 'Reach-Only Liquid Legions V2' },
  liquidLegionsV2: { label: 'Sketches with frequency', ...SKETCHES, name: 'Liquid Legions V2' },
  direct: {
    label: 'Each publisher alone',
    meaning: 'No duchies. Every publisher has a figure of its own, and the figures cannot be added up.',
    how: 'Each publisher counts its own people and adds noise. People whom several of them reached are not recognized.',
    name: 'Direct',
  },
};

/** Returns the text about the protocol that a measurement or a computation uses. */
export function protocolWords(config: ProtocolConfig): ProtocolWords {
  return PROTOCOL_WORDS[PROTOCOLS.find((protocol) => config[protocol] !== undefined) ?? 'direct'];
}

export const NOISE_WORDS: Record<MpcNoiseMechanism, string> = {
  NONE: 'none',
  GEOMETRIC: 'geometric',
  DISCRETE_GAUSSIAN: 'discrete Gaussian',
};
