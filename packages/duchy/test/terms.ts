import type { LiquidLegionsConfig } from '@measurement-exchange/contract';

/** What a provider says that it was told. */
export function termsOf(config: LiquidLegionsConfig, combinedPublicKey: Uint8Array) {
  const { workers, aggregator, noiseMechanism, decayRate, histogramPrivacyParams, publisherPrivacyParams } =
    config;
  return {
    ...{ workers: [...workers], aggregator, noiseMechanism, decayRate, combinedPublicKey },
    maxSize: BigInt(config.maxSize),
    histogramEpsilon: histogramPrivacyParams.epsilon,
    histogramDelta: histogramPrivacyParams.delta,
    publisherEpsilon: publisherPrivacyParams.epsilon,
    publisherDelta: publisherPrivacyParams.delta,
    samplingIndicatorSize: BigInt(config.samplingIndicatorSize ?? 0),
    maximumFrequency: config.maximumFrequency ?? 0,
  };
}
