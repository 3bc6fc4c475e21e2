/** What duchies of a ring of three could send each other in place of what they computed. */
import type { LiquidLegionsProtocol } from '@measurement-exchange/contract';
import { POINT_BYTES } from '@measurement-exchange/sdk/liquidLegions';

export const [ALPHA, BETA, GAMMA] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'] as const;
export const REACH_ONLY = 'reachOnlyLiquidLegionsV2';
export const FULL = 'liquidLegionsV2';

/** A message that a duchy gets, and what is sent in its place. */
export interface PeerLie {
  what: string;
  to: string;
  message: string;
  from: string;
  spoil(honest: Uint8Array): Uint8Array;
  says: RegExp;
}

/** x = 1 is that of no point. */
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
      ['a register less', less(66), /SETUP_PHASE_INPUT of duchies\/alpha has \d+ bytes instead of \d+/],
      ['every register twice', twice, /has \d+ bytes instead of \d+/],
      ['half a register', less(33), /has \d+ bytes instead of \d+/],
      ['nothing', nothing, /has 0 bytes instead of \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /SETUP_PHASE_INPUT of duchies\/alpha cannot be computed with: .*not on the curve/],
      ['the point at infinity', firstPoint(INFINITY), /SETUP_PHASE_INPUT of duchies\/alpha cannot be computed with: .*not a compressed point/],
    ]),
    ...lie(BETA, 'EXECUTION_PHASE_INPUT', GAMMA, [
      ['a register less', less(66), /EXECUTION_PHASE_INPUT of duchies\/gamma has \d+ bytes instead of \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /EXECUTION_PHASE was given cannot be computed with: .*not on the curve/],
    ]),
    ...lie(GAMMA, 'EXECUTION_PHASE_INPUT', ALPHA, [
      ['nothing', nothing, /EXECUTION_PHASE_INPUT of duchies\/alpha has 0 bytes/],
    ]),
  ],
  [FULL]: [
    ...lie(GAMMA, 'SETUP_PHASE_INPUT', BETA, [
      ['a register less', less(198), /SETUP_PHASE_INPUT of duchies\/beta has \d+ bytes instead of \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /SETUP_PHASE_INPUT of duchies\/beta cannot be computed with/],
    ]),
    ...lie(ALPHA, 'EXECUTION_PHASE_ONE_INPUT', BETA, [
      ['a register less', less(198), /EXECUTION_PHASE_ONE_INPUT of duchies\/beta has \d+ bytes/],
      ['the point at infinity', firstPoint(INFINITY), /EXECUTION_PHASE_ONE was given cannot be computed with/],
    ]),
    ...lie(BETA, 'EXECUTION_PHASE_TWO_INPUT', GAMMA, [
      ['half a tuple', less(132), /whole blocks of 264 bytes/],
      ['more tuples than registers', (bytes) => Buffer.concat(Array(100).fill(bytes)), /EXECUTION_PHASE_TWO_INPUT of duchies\/gamma has \d+ bytes instead of \d+ to \d+/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /EXECUTION_PHASE_TWO was given cannot be computed with/],
    ]),
    ...lie(GAMMA, 'EXECUTION_PHASE_THREE_INPUT', ALPHA, [
      ['half a comparison', less(66), /whole blocks of 132 bytes/],
      ['a point that is not on the curve', firstPoint(OFF_CURVE), /EXECUTION_PHASE_THREE was given cannot be computed with/],
    ]),
  ],
};
