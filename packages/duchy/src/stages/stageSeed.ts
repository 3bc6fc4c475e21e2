import { hkdfSync } from 'node:crypto';
import { SEED_BYTES } from '@measurement-exchange/mpc/shares/keystream';
import type { ComputationSecrets } from '../database/index.ts';

/** Derives the seed for a stage's noise and blinding. A repeated stage uses the same seed. */
export function stageSeed({ noiseSeed }: ComputationSecrets, stage: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', noiseSeed!, '', stage, SEED_BYTES));
}
