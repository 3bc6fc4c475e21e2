import { create } from '@bufbuild/protobuf';
import { duchyMessages } from '@measurement-exchange/contract';
import type { Sealing } from '../../fulfill.ts';
import type { Upload } from '../../ledger/responses.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import { signUpload } from '../fulfillment.ts';
import type { StoredFile } from '../storedFile.ts';

/** Signs what the provider agreed to: the ring, the parameters, and the key that the registers are encrypted for. */
export function signSketch(
  verified: VerifiedRequisition,
  sketch: StoredFile,
  sealing: Sealing,
): Promise<Upload> {
  const { protocol, config, combinedPublicKey } = verified.liquidLegions!;
  const { workers, aggregator, noiseMechanism, decayRate, maxSize } = config;
  const { histogramPrivacyParams: histogram, publisherPrivacyParams: publisher } = config;
  const value = create(duchyMessages.Fulfillment_LiquidLegionsSchema, {
    ...{ workers, aggregator, noiseMechanism, decayRate, combinedPublicKey },
    maxSize: BigInt(maxSize),
    histogramEpsilon: histogram.epsilon,
    histogramDelta: histogram.delta,
    publisherEpsilon: publisher.epsilon,
    publisherDelta: publisher.delta,
    samplingIndicatorSize: BigInt(config.samplingIndicatorSize ?? 0),
    maximumFrequency: config.maximumFrequency ?? 0,
  });
  return signUpload(verified, verified.liquidLegions!, sketch, sealing, {
    protocol,
    populationFingerprint: new Uint8Array(),
    registerCount: BigInt(maxSize),
    protocolData: { case: 'liquidLegions', value },
  });
}
