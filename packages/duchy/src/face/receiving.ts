import type { Duchy } from '../computations/context.ts';
import type { SignatureCheck } from './signed.ts';
import type { Slots, Turns } from './slots.ts';

export interface Receiving {
  duchy: Duchy;
  slots: Slots;
  turns: Turns;
  requireSigned: SignatureCheck;
  maxDataBytes: number;
}
