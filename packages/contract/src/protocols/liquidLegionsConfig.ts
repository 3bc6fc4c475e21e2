/** Defines the order of the duchies in a Liquid Legions protocol, and validates the protocol's config. */

import type { Violation } from '../errors/errors.ts';
import {
  MAX_DECAY_RATE,
  MAX_HIDING_DELTA,
  MAX_HIDING_EPSILON,
  MAX_LEGIONS_FREQUENCY,
  MAX_LEGIONS_WORKERS,
  MAX_SAMPLING_INDICATOR_SIZE,
  MAX_SKETCH_SIZE,
} from './liquidLegionsLimits.ts';
import type { LiquidLegionsConfig } from './protocolConfig.ts';
import { MIN_MPC_EPSILON } from './shareShuffleLimits.ts';

/** Returns the duchies in the order in which they process the registers. The aggregator comes last. */
export function ringOf(config: Pick<LiquidLegionsConfig, 'workers' | 'aggregator'>): string[] {
  return [...config.workers, config.aggregator];
}

/** Checks the values in a config. The types of its properties have already been checked. */
export function liquidLegionsViolations(config: LiquidLegionsConfig): Violation[] {
  const violations: Violation[] = [];
  const check = (field: string, ok: boolean, description: string) => {
    if (!ok) violations.push({ field, description });
  };
  const checkCount = (field: string, value: number, minimum: number, maximum: number) =>
    check(
      field,
      Number.isInteger(value) && value >= minimum && value <= maximum,
      `must be a whole number from ${minimum} to ${maximum}`,
    );
  const checkPositive = (field: string, value: number, maximum: number) =>
    check(field, value > 0 && value <= maximum, `must be above 0 and at most ${maximum}`);
  const { workers, samplingIndicatorSize, maximumFrequency } = config;
  check(
    'workers',
    workers.length >= 1 && workers.length <= MAX_LEGIONS_WORKERS,
    `must be 1 to ${MAX_LEGIONS_WORKERS} duchies`,
  );
  const ring = ringOf(config);
  const repeated = ring.find((duchy, i) => ring.indexOf(duchy) !== i);
  check(
    'workers',
    repeated === undefined,
    `and aggregator must be different duchies, and ${repeated} is there twice`,
  );
  checkPositive('decayRate', config.decayRate, MAX_DECAY_RATE);
  checkCount('maxSize', config.maxSize, 1, MAX_SKETCH_SIZE);
  if (samplingIndicatorSize !== undefined) {
    checkCount('samplingIndicatorSize', samplingIndicatorSize, 1, MAX_SAMPLING_INDICATOR_SIZE);
  }
  if (maximumFrequency !== undefined) {
    checkCount('maximumFrequency', maximumFrequency, 2, MAX_LEGIONS_FREQUENCY);
  }
  for (const field of ['histogramPrivacyParams', 'publisherPrivacyParams'] as const) {
    const { epsilon, delta } = config[field];
    check(
      `${field}.epsilon`,
      epsilon >= MIN_MPC_EPSILON && epsilon <= MAX_HIDING_EPSILON,
      `must be from ${MIN_MPC_EPSILON} to ${MAX_HIDING_EPSILON}`,
    );
    checkPositive(`${field}.delta`, delta, MAX_HIDING_DELTA);
  }
  return violations;
}

/**
 * Returns the parts of the config that a provider signs together with its sketch, as fields of the Fulfillment message.
 */
export function signedLegionsTerms(config: LiquidLegionsConfig) {
  const { workers, aggregator, noiseMechanism, decayRate, histogramPrivacyParams, publisherPrivacyParams } =
    config;
  return {
    ...{ workers, aggregator, noiseMechanism, decayRate },
    maxSize: BigInt(config.maxSize),
    histogramEpsilon: histogramPrivacyParams.epsilon,
    histogramDelta: histogramPrivacyParams.delta,
    publisherEpsilon: publisherPrivacyParams.epsilon,
    publisherDelta: publisherPrivacyParams.delta,
    samplingIndicatorSize: BigInt(config.samplingIndicatorSize ?? 0),
    maximumFrequency: config.maximumFrequency ?? 0,
  };
}
