/** How large messages between duchies can be: whoever sends more is not listened to. */
import type { StoredComputation } from '../database/index.ts';
import { shuffledCount } from '../shareShuffle/index.ts';
import { planOf } from './plan.ts';

/** Of an encrypted seed with its signature and the names that go with it; uploads may have seeds of 8 KiB. */
const SEED_BYTES = 10 * 1024;
/** For whatever a message has once. */
const ENVELOPE_BYTES = 64 * 1024;
/** Encryption makes a message longer by far less than this share. */
const ENCRYPTION = 1.02;

/** Of one that a computation of these requisitions and registers can need, encrypted. */
export function largestMessage(computation: StoredComputation, message: string): number {
  const bytes =
    message === 'AGGREGATION_PHASE_INPUT'
      ? shuffledCount(planOf(computation).parameters)
      : computation.view.requisitions.length * SEED_BYTES;
  return Math.ceil(bytes * ENCRYPTION) + ENVELOPE_BYTES;
}
