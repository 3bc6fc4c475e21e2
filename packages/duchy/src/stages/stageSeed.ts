import { hkdfSync } from 'node:crypto';
import { SEED_BYTES } from '@measurement-exchange/mpc/shares/keystream';
import type { ComputationSecrets } from '../database/index.ts';

/** The seed of the noise and the blinding of a stage: a repetition has the same seed, another stage another one. */
export function stageSeed({ noiseSeed }: ComputationSecrets, stage: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', noiseSeed!, '', stage, SEED_BYTES));
}
