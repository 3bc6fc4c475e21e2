/** Makes the result of the aggregator's figures; only the consumer can open it. */
import { create, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, resultKeysetOf } from '@measurement-exchange/consent';
import { type MpcNoiseMechanism, specs, TYPE_URLS } from '@measurement-exchange/contract';
import { requireConsent } from '../computations/certificates.ts';
import { specOf } from '../computations/plan.ts';
import type { Work } from './work.ts';

const MECHANISMS: Record<MpcNoiseMechanism, specs.ProtocolConfig_NoiseMechanism> = {
  NONE: specs.ProtocolConfig_NoiseMechanism.NONE,
  GEOMETRIC: specs.ProtocolConfig_NoiseMechanism.GEOMETRIC,
  DISCRETE_GAUSSIAN: specs.ProtocolConfig_NoiseMechanism.DISCRETE_GAUSSIAN,
};

export interface Figures {
  reach: number;
  relativeFrequencyDistribution?: ReadonlyMap<number, number> | undefined;
  noiseMechanism: MpcNoiseMechanism;
  /** How the reach was computed, and the frequencies. */
  methodology: {
    reach: specs.Measurement_Result_Reach['methodology'];
    frequency?: specs.Measurement_Result_Frequency['methodology'];
  };
}

/** Signs the result, encrypts it under the key that the consumer signed, and serializes it. */
export async function sealedResult({ duchy, computation }: Work, figures: Figures): Promise<Uint8Array> {
  const typeUrl = TYPE_URLS.MeasurementResult;
  const signed = await duchy.signer.sign(toBinary(specs.Measurement_ResultSchema, resultOf(figures)));
  const plaintext = packSignedMessage(signed, typeUrl);
  const { measurementPublicKey } = specOf(computation);
  const sealing = async () => encrypt(resultKeysetOf(measurementPublicKey!), plaintext);
  const ciphertext = await requireConsent(
    'RESULT_KEY_INVALID',
    { field: 'measurementSpec.measurementPublicKey' },
    sealing(),
  );
  return toBinary(
    specs.EncryptedMessageSchema,
    create(specs.EncryptedMessageSchema, { ciphertext, typeUrl }),
  );
}

function resultOf({ reach, methodology, ...figures }: Figures): specs.Measurement_Result {
  const noiseMechanism = MECHANISMS[figures.noiseMechanism];
  const { relativeFrequencyDistribution } = figures;
  return create(specs.Measurement_ResultSchema, {
    reach: { value: BigInt(reach), noiseMechanism, methodology: methodology.reach },
    ...(relativeFrequencyDistribution && {
      frequency: {
        relativeFrequencyDistribution: Object.fromEntries(relativeFrequencyDistribution),
        noiseMechanism,
        methodology: methodology.frequency!,
      },
    }),
  });
}
