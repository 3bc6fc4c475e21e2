/** Creates the encrypted result from the aggregator's figures. Only the consumer can decrypt the result. */
import { create, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, resultKeysetOf } from '@measurement-exchange/consent';
import { type MpcNoiseMechanism, specs, TYPE_URLS } from '@measurement-exchange/contract';
import { requireConsent } from '../computations/certificates.ts';
import { specOf } from '../computations/plan.ts';
import type { Work } from './work.ts';

export interface Figures {
  reach: number;
  relativeFrequencyDistribution?: ReadonlyMap<number, number> | undefined;
  noiseMechanism: MpcNoiseMechanism;
  methodology: {
    reach: specs.Measurement_Result_Reach['methodology'];
    frequency?: specs.Measurement_Result_Frequency['methodology'];
  };
}

/** Signs the result, encrypts it with the public key that the consumer signed, and serializes it. */
export async function sealedResult({ duchy, computation }: Work, figures: Figures): Promise<Uint8Array> {
  const typeUrl = TYPE_URLS.MeasurementResult;
  const signed = await duchy.signer.sign(toBinary(specs.Measurement_ResultSchema, resultOf(figures)));
  const plaintext = packSignedMessage(signed, typeUrl);
  const { measurementPublicKey } = specOf(computation);
  const sealing = Promise.try(() => encrypt(resultKeysetOf(measurementPublicKey!), plaintext));
  const position = { field: 'measurementSpec.measurementPublicKey' };
  const ciphertext = await requireConsent('RESULT_KEY_INVALID', position, sealing);
  const message = create(specs.EncryptedMessageSchema, { ciphertext, typeUrl });
  return toBinary(specs.EncryptedMessageSchema, message);
}

function resultOf({ reach, methodology, ...figures }: Figures): specs.Measurement_Result {
  const noiseMechanism = specs.ProtocolConfig_NoiseMechanism[figures.noiseMechanism];
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
