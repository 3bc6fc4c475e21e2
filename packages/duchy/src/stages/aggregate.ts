import { create, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, resultKeysetOf } from '@measurement-exchange/consent';
import { type MpcNoiseMechanism, specs, TYPE_URLS } from '@measurement-exchange/contract';
import { requireConsent } from '../certificates.ts';
import { PermanentError } from '../errors.ts';
import { received } from '../peers/inbox.ts';
import {
  countValues,
  estimate,
  ShareShuffleError,
  type ShareShuffleEstimate,
} from '../shareShuffle/index.ts';
import { configOf, type Plan, planOf } from './plan.ts';
import { duchyWith, type StageFunction, type Work } from './table.ts';

const WORKERS = ['FIRST_WORKER', 'SECOND_WORKER'] as const;
const MECHANISMS: Record<MpcNoiseMechanism, specs.ProtocolConfig_NoiseMechanism> = {
  NONE: specs.ProtocolConfig_NoiseMechanism.NONE,
  GEOMETRIC: specs.ProtocolConfig_NoiseMechanism.GEOMETRIC,
  DISCRETE_GAUSSIAN: specs.ProtocolConfig_NoiseMechanism.DISCRETE_GAUSSIAN,
};

/** Adds up what the workers sent, estimates, and seals the result for the consumer. */
export const aggregate: StageFunction = async (work) => {
  const { computation } = work;
  const plan = planOf(computation);
  const result = resultOf(
    await estimated(work, plan),
    computation.registerCount,
    configOf(computation.view).noiseMechanism,
  );
  return seal(work, plan, result);
};

async function estimated(work: Work, { spec, parameters }: Plan): Promise<ShareShuffleEstimate> {
  const { duchy, computation } = work;
  const [first, second] = WORKERS.map((role) =>
    received(duchy, computation, 'AGGREGATION_PHASE_INPUT', duchyWith(role, computation.view)),
  );
  try {
    const counts = await countValues(parameters, [first!, second!]);
    return estimate(parameters, counts, spec.vidSamplingInterval?.width ?? 1);
  } catch (error) {
    // Both say what a worker sent that the protocol cannot give.
    if (!(error instanceof ShareShuffleError || error instanceof RangeError)) throw error;
    throw new PermanentError(`What the workers sent does not add up: ${error.message}.`);
  }
}

function resultOf(
  { reach, relativeFrequencyDistribution }: ShareShuffleEstimate,
  registerCount: number,
  mechanism: MpcNoiseMechanism,
): specs.Measurement_Result {
  const noiseMechanism = MECHANISMS[mechanism];
  const methodology = {
    case: 'honestMajorityShareShuffle',
    value: { frequencyVectorSize: BigInt(registerCount) },
  } as const;
  return create(specs.Measurement_ResultSchema, {
    reach: { value: BigInt(reach), noiseMechanism, methodology },
    ...(relativeFrequencyDistribution && {
      frequency: {
        relativeFrequencyDistribution: Object.fromEntries(relativeFrequencyDistribution),
        noiseMechanism,
        methodology,
      },
    }),
  });
}

/** Signs the result, then encrypts it under the key that the consumer signed; serialized. */
async function seal({ duchy }: Work, { spec }: Plan, result: specs.Measurement_Result): Promise<Uint8Array> {
  const typeUrl = TYPE_URLS.MeasurementResult;
  const signed = await duchy.signer.sign(toBinary(specs.Measurement_ResultSchema, result));
  const plaintext = packSignedMessage(signed, typeUrl);
  const sealing = async () => encrypt(resultKeysetOf(spec.measurementPublicKey!), plaintext);
  const ciphertext = await requireConsent('measurementPublicKey', sealing());
  return toBinary(
    specs.EncryptedMessageSchema,
    create(specs.EncryptedMessageSchema, { ciphertext, typeUrl }),
  );
}
