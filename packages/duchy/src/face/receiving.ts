import type { Duchy } from '../computations/context.ts';
import type { SignatureCheck } from './signed.ts';
import type { Slots, Turns } from './slots.ts';

/** What uploads and messages are received with. */
export interface Receiving {
  duchy: Duchy;
  slots: Slots;
  turns: Turns;
  requireSigned: SignatureCheck;
  /** Of what another duchy sends. */
  maxDataBytes: number;
}
