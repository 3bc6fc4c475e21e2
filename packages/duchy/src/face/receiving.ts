import type { Duchy } from '../computations/context.ts';
import type { SignatureCheck } from './signed.ts';
import type { Slots, Turns } from './slots.ts';

/** The context for receiving uploads and messages. */
export interface Receiving {
  duchy: Duchy;
  slots: Slots;
  turns: Turns;
  requireSigned: SignatureCheck;
  /** The maximum size of a message from another duchy. */
  maxDataBytes: number;
}
