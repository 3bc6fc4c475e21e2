/** Lies that one duchy in a ring of three could send instead of its computed output. */
import type { LiquidLegionsProtocol } from '@measurement-exchange/contract';
import { POINT_BYTES } from '@measurement-exchange/mpc/sketches';

export const [ALPHA, BETA, GAMMA] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'] as const;
export const REACH_ONLY = 'reachOnlyLiquidLegionsV2';
export const FULL = 'liquidLegionsV2';

/** A message to a duchy, and the changed message that is sent in its place. */
export interface PeerLie {
  what: string;
  to: string;
  message: string;
  from: string;
  spoil(honest: Uint8Array): Uint8Array;
  /** Matches the expected failure: its code and position, followed by its cause, which only the duchy's log has. */
  says: RegExp;
}

/** A compressed point with x = 1. No point of the curve has this x. */
export const OFF_CURVE = Uint8Array.from({ length: POINT_BYTES }, (_, i) =>
  i === 0 ? 2 : i === POINT_BYTES - 1 ? 1 : 0,
);
const INFINITY = new Uint8Array(POINT_BYTES);
const firstPoint = (point: Uint8Array) => (bytes: Uint8Array) =>
  Buffer.concat([point, bytes.subarray(POINT_BYTES)]);
const less = (count: number) => (bytes: Uint8Array) => bytes.subarray(count);
const twice = (bytes: Uint8Array) => Buffer.concat([bytes, bytes]);
const nothing = () => new Uint8Array(0);

const lie = (
  to: string,
  message: string,
  from: string,
  lies: [what: string, spoil: PeerLie['spoil'], says: RegExp][],
): PeerLie[] => lies.map(([what, spoil, says]) => ({ what, to, message, from, spoil, says }));

// biome-ignore format: a table, one row per line
export const LIES: Record<LiquidLegionsProtocol, PeerLie[]> = {
  [REACH_ONLY]: [
    ...lie(GAMMA, 'SETUP_PHASE_INPUT', ALPHA, [
      ['one register too few', less(66), /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT of duchies\/alpha: .* \d+ bytes instead of \d+/],
      ['all registers twice', twice, /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT .* \d+ bytes instead of \d+/],
      ['half a register', less(33), /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT .* \d+ bytes instead of \d+/],
      ['no data', nothing, /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT .* 0 bytes instead of \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT of duchies\/alpha: .*not on the curve/],
      ['the point at infinity', firstPoint(INFINITY), /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT of duchies\/alpha: .*not a compressed point/],
    ]),
    ...lie(BETA, 'EXECUTION_PHASE_INPUT', GAMMA, [
      ['one register too few', less(66), /PEER_MESSAGE_INVALID at EXECUTION_PHASE_INPUT of duchies\/gamma: .* \d+ bytes instead of \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /PEER_MESSAGE_INVALID at EXECUTION_PHASE: .*not on the curve/],
    ]),
    ...lie(GAMMA, 'EXECUTION_PHASE_INPUT', ALPHA, [
      ['no data', nothing, /PEER_MESSAGE_INVALID at EXECUTION_PHASE_INPUT of duchies\/alpha: .* 0 bytes instead of \d+/],
    ]),
  ],
  [FULL]: [
    ...lie(GAMMA, 'SETUP_PHASE_INPUT', BETA, [
      ['one register too few', less(198), /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT of duchies\/beta: .* \d+ bytes instead of \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /PEER_MESSAGE_INVALID at SETUP_PHASE_INPUT of duchies\/beta: .*not on the curve/],
    ]),
    ...lie(ALPHA, 'EXECUTION_PHASE_ONE_INPUT', BETA, [
      ['one register too few', less(198), /PEER_MESSAGE_INVALID at EXECUTION_PHASE_ONE_INPUT of duchies\/beta: .* \d+ bytes instead of \d+/],
      ['the point at infinity', firstPoint(INFINITY), /PEER_MESSAGE_INVALID at EXECUTION_PHASE_ONE: .*not a compressed point/],
    ]),
    ...lie(BETA, 'EXECUTION_PHASE_TWO_INPUT', GAMMA, [
      ['half a tuple', less(132), /whole blocks of 264 bytes/],
      ['more tuples than registers', (bytes) => Buffer.concat(Array(100).fill(bytes)), /PEER_MESSAGE_INVALID at EXECUTION_PHASE_TWO_INPUT of duchies\/gamma: .* \d+ bytes instead of \d+ to \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /PEER_MESSAGE_INVALID at EXECUTION_PHASE_TWO: .*not on the curve/],
    ]),
    ...lie(GAMMA, 'EXECUTION_PHASE_THREE_INPUT', ALPHA, [
      ['half a comparison', less(66), /whole blocks of 132 bytes/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /PEER_MESSAGE_INVALID at EXECUTION_PHASE_THREE: .*not on the curve/],
    ]),
  ],
};
