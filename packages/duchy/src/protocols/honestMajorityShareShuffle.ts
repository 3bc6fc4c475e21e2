/**
 * The Honest Majority Share Shuffle protocol. Each of two workers adds up secret shares of the providers' data. The
 * aggregator combines the two sums and counts how often each value occurs.
 */
import { seedCommitment } from '@measurement-exchange/consent';
import type { MpcStage } from '@measurement-exchange/mpc/protocols';
import { shuffledCount } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import { planOf } from '../computations/plan.ts';
import { encryptionKey, publishing } from '../stages/publishKey.ts';
import { aggregate } from './honestMajorityShareShuffle/aggregate.ts';
import { setup } from './honestMajorityShareShuffle/setup.ts';
import { shuffle } from './honestMajorityShareShuffle/shuffle.ts';
import { upload } from './honestMajorityShareShuffle/upload.ts';
import type { DuchyProtocol } from './protocol.ts';

const PROTOCOL = 'honestMajorityShareShuffle';
/** The maximum size of one seed's entry in a message: an encrypted seed of up to 8 KiB, plus names and counts. */
const SEED_BYTES = 10 * 1024;

/**
 * Publishes this duchy's key, together with a commitment to its random seed. A worker's random seed is its contribution
 * to the seed that both workers share. The worker sends this contribution to the other worker in a later stage. The
 * aggregator's random seed is not used.
 */
const publishKey = publishing(async (secrets, context) => {
  const commitment = await seedCommitment(secrets.randomSeed!, context.duchy, context.computation);
  return { publicKey: encryptionKey(secrets, { ...context, seedCommitment: commitment }) };
});

export const HONEST_MAJORITY_SHARE_SHUFFLE: DuchyProtocol<MpcStage<typeof PROTOCOL>> = {
  stages: { publishKey, setup, shuffle, aggregate },
  upload,
  messageSize(computation, message) {
    const most =
      message === 'AGGREGATION_PHASE_INPUT'
        ? shuffledCount(planOf(PROTOCOL, computation).parameters)
        : computation.view.requisitions.length * SEED_BYTES;
    return { least: 0, most };
  },
};
