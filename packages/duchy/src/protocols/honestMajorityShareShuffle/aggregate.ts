import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import {
  countValues,
  ShareShuffleError,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/aggregate';
import {
  estimate,
  type ShareShuffleEstimate,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/estimate';
import { PermanentError } from '../../computations/errors.ts';
import { duchyAt } from '../../computations/places.ts';
import { configOf, planOf } from '../../computations/plan.ts';
import { readSecrets } from '../../database/index.ts';
import { received } from '../../peers/inbox.ts';
import { sealedResult } from '../../stages/result.ts';
import { stageSeed } from '../../stages/stageSeed.ts';
import type { StageFunction, Work } from '../../stages/work.ts';

const PROTOCOL = 'honestMajorityShareShuffle';
const WORKERS = ['FIRST_WORKER', 'SECOND_WORKER'] as const;

/**
 * Adds up the workers' shares, counts how often each value occurs, and adds noise to these counts. Then estimates reach
 * and frequencies from the counts, and encrypts the result for the consumer.
 */
export const aggregate: StageFunction = async (work) => {
  const { view, registerCount } = work.computation;
  const frequencyVectorSize = BigInt(registerCount);
  const value = create(specs.HonestMajorityShareShuffleMethodologySchema, { frequencyVectorSize });
  const methodology = { case: PROTOCOL, value } as const;
  return sealedResult(work, {
    ...(await estimated(work)),
    noiseMechanism: configOf(PROTOCOL, view).noiseMechanism,
    methodology: { reach: methodology, frequency: methodology },
  });
};

async function estimated({ duchy, computation }: Work): Promise<ShareShuffleEstimate> {
  const { spec, parameters } = planOf(PROTOCOL, computation);
  const [first, second] = WORKERS.map((role) =>
    received(duchy, computation, 'AGGREGATION_PHASE_INPUT', duchyAt(role, computation.view)),
  );
  const counts = await countValues(parameters, [first!, second!]).catch((error: unknown) => {
    // Both kinds of errors mean that a worker's message has the wrong format. Keeping the error as the cause is safe,
    // because its text reveals no register values.
    if (!(error instanceof ShareShuffleError || error instanceof RangeError)) throw error;
    throw new PermanentError('PEER_MESSAGE_INVALID', { stage: 'AGGREGATION_PHASE_INPUT' }, { cause: error });
  });
  const width = spec.vidSamplingInterval?.width ?? 1;
  const noiseSeed = stageSeed(await readSecrets(duchy.db, computation.id), computation.stage);
  return estimate(parameters, { counts, width, noiseSeed });
}
