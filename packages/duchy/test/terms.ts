import type { LiquidLegionsConfig } from '@measurement-exchange/contract';

/** Returns the terms as a provider states them in its fulfillment. */
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
