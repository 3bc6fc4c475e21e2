import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { PermanentError } from '../errors.ts';
import { received } from '../peers/inbox.ts';
import {
  countValues,
  estimate,
  ShareShuffleError,
  type ShareShuffleEstimate,
} from '../shareShuffle/index.ts';
import { duchyAt } from './places.ts';
import { configOf, planOf } from './plan.ts';
import { sealedResult } from './result.ts';
import type { StageFunction, Work } from './table.ts';

const PROTOCOL = 'honestMajorityShareShuffle';
const WORKERS = ['FIRST_WORKER', 'SECOND_WORKER'] as const;

/** Adds up what the workers sent, estimates, and seals the result for the consumer. */
export const aggregate: StageFunction = async (work) => {
  const { view, registerCount } = work.computation;
  const methodology = {
    case: PROTOCOL,
    value: create(specs.HonestMajorityShareShuffleMethodologySchema, {
      frequencyVectorSize: BigInt(registerCount),
    }),
  } as const;
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
  try {
    const counts = await countValues(parameters, [first!, second!]);
    return estimate(parameters, counts, spec.vidSamplingInterval?.width ?? 1);
  } catch (error) {
    // Both say what a worker sent that the protocol cannot give.
    if (!(error instanceof ShareShuffleError || error instanceof RangeError)) throw error;
    throw new PermanentError('PEER_MESSAGE_INVALID', { stage: 'AGGREGATION_PHASE_INPUT' }, { cause: error });
  }
}
