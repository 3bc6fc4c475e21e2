/** Uploads of share-shuffle: a share of a frequency vector, and the encrypted seed of the other share. */
import type { duchyMessages } from '@measurement-exchange/contract';
import type { StoredComputation } from '../database/index.ts';
import { configOf } from '../stages/plan.ts';
import { mismatch } from './errors.ts';
import { asShares, vectorHeader } from './received.ts';
import type { UploadRules } from './uploadRules.ts';

const PROTOCOL = 'honestMajorityShareShuffle';
const MAX_SEED_BYTES = 8 * 1024;
const TERMS = ['firstWorker', 'secondWorker', 'aggregator', 'noiseMechanism', 'ringModulus'] as const;

export const SHARE_RULES: UploadRules = {
  dataLength: ({ registerCount }) => vectorHeader(registerCount).length + registerCount,
  population({ view }) {
    const { population: name, populationFingerprint: fingerprint } = configOf(PROTOCOL, view);
    return { name, fingerprint };
  },
  secretSeed,
  checked: (data, { view, registerCount }) =>
    asShares(data, { registerCount, modulus: configOf(PROTOCOL, view).ringModulus }),
};

/** The encrypted seed; the exchange told the provider the same about who computes, and how, as this duchy. */
function secretSeed({ protocolData }: duchyMessages.Fulfillment, { view }: StoredComputation): Uint8Array {
  const config = configOf(PROTOCOL, view);
  const at = (field: string) => `fulfillment.${PROTOCOL}.${field}`;
  const data = protocolData.case === PROTOCOL ? protocolData.value : undefined;
  const seed = data?.secretSeed?.ciphertext;
  if (data === undefined || seed === undefined || seed.length === 0) {
    throw mismatch(at('secretSeed'), 'must be the encrypted seed');
  }
  if (seed.length > MAX_SEED_BYTES) {
    throw mismatch(at('secretSeed'), `must have at most ${MAX_SEED_BYTES} bytes`);
  }
  for (const term of TERMS) {
    if (data[term] !== config[term])
      throw mismatch(at(term), `must be ${config[term]}, as this duchy was told`);
  }
  return seed;
}
