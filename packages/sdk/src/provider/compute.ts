/**
 * Computes direct results (exact figures from the events plus noise) and their privacy cost. The formulas match the public
 * reference system. Like that system, they use the width of the sampling interval as a 32-bit float.
 */
import { create } from '@bufbuild/protobuf';
import { type PrivacyParams, specs } from '@measurement-exchange/contract';
import {
  charge,
  drawNoise,
  type NoiseMechanism,
  type RandomSource,
  secureRandom,
} from '@measurement-exchange/mpc';
import { exactRational } from '@measurement-exchange/mpc/privacy/rational';
import { RefusalError } from '../refusals/refusalError.ts';
import { queryOf } from './eventQuery.ts';
import type { EventQuery, Events } from './events.ts';
import { addUnits, costInUnits, NOTHING, type Units } from './ledger/amounts.ts';
import type { Charge } from './ledger/charges.ts';
import { computationCharge } from './multiParty/charge.ts';
import type { Population } from './population.ts';
import { capMillis } from './verify/limits.ts';
import type { VerifiedRequisition } from './verify.ts';

/** The data and the noise that a provider uses to compute results. */
export interface Methodology {
  events?: Events | undefined;
  /** The virtual population. Only population measurements need it. */
  population?: Population | undefined;
  /**
   * The noise mechanism. Default: Gaussian if the consumer allows a delta above 0, otherwise geometric (integer Laplace).
   */
  noise?: NoiseMechanism | undefined;
  /** The provider's cap on the impressions per person. A result states this cap if it is lower than the consumer's cap. */
  maximumFrequencyPerUser?: number | undefined;
}

/** A methodology plus the options for one computation. */
export interface ComputeOptions extends Methodology {
  random?: RandomSource | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((percent: number) => void) | undefined;
}

/**
 * One or more figures that are released with the same privacy parameters. A privacy unit is all events of one person in one
 * reference on one UTC day. See docs/privacy.md.
 */
interface Release {
  params: PrivacyParams;
  mechanism: NoiseMechanism;
  /** The maximum amount by which one privacy unit can change a figure. The noise is calibrated to this amount. */
  sensitivity: bigint;
  /** The maximum number of figures that one privacy unit can change. Each of these figures adds to the cost. */
  changed: number;
}

/** Throws a refusal if the provider does not offer the measurement or can never compute it. Reads no events. */
export async function requireComputable(
  verified: VerifiedRequisition,
  methodology: Methodology,
): Promise<void> {
  const { spec, selection } = verified;
  const { events, population, noise } = methodology;
  if (selection.population) {
    if (!population)
      throw new RefusalError('POPULATION_NOT_OFFERED', 'This provider has no population figures.');
    await population.count(selection.population.filter);
    return;
  }
  if (!events) throw new RefusalError('EVENTS_NOT_OFFERED', 'This provider has population figures only.');
  if (spec.measurementType === 'DURATION' && !events.hasDuration) {
    throw new RefusalError('DURATION_NOT_OFFERED', 'This provider does not record watch durations.');
  }
  const isComputed = verified.shareShuffle ?? verified.liquidLegions;
  for (const { params } of isComputed ? [] : releases(verified, methodology)) {
    if (noise !== 'DISCRETE_GAUSSIAN' || params.delta > 0) continue;
    throw new RefusalError(
      'DELTA_REQUIRED',
      'This provider adds Gaussian noise, which needs a delta above 0.',
    );
  }
  await events.check(queryOf(verified));
}

/**
 * Returns the charges for the result, which never depend on the events. A reference is charged the full cost for each UTC
 * day that a collection interval overlaps. It is charged once per day, even if several event groups select it.
 */
export function chargesFor(verified: VerifiedRequisition, methodology: Methodology): Charge[] {
  const cost = costOf(verified, methodology);
  const charges = new Map<string, Charge>();
  for (const [i, { reference, interval }] of (verified.selection.events ?? []).entries()) {
    for (const [n, day] of daysOf(interval).entries()) {
      const key = `${day} ${reference}`;
      if (!charges.has(key)) charges.set(key, { reference, day, cost, at: `events[${i}], day ${n + 1}` });
    }
  }
  return [...charges.values()];
}

function costOf(verified: VerifiedRequisition, methodology: Methodology): Units {
  if (verified.shareShuffle) return costInUnits(computationCharge(verified));
  if (verified.liquidLegions) return costInUnits(computationCharge(verified));
  return releases(verified, methodology)
    .map(({ mechanism, params, sensitivity, changed }) =>
      costInUnits(charge(mechanism, params, sensitivity, changed)),
    )
    .reduce(addUnits, NOTHING);
}

/**
 * Computes a result with fresh noise. Call this only once per requisition, because two results with different noise over
 * the same data leak information.
 */
export async function computeResult(
  verified: VerifiedRequisition,
  options: ComputeOptions,
): Promise<specs.Measurement_Result> {
  await requireComputable(verified, options);
  return create(specs.Measurement_ResultSchema, await computeFigures(verified, options));
}

/** Returns the UTC days that `[start, end)` overlaps. */
export function daysOf({ start, end }: { start: Date; end: Date }): string[] {
  const days: string[] = [];
  for (let day = Math.floor(start.getTime() / DAY_MS); day * DAY_MS < end.getTime(); day++) {
    days.push(new Date(day * DAY_MS).toISOString().slice(0, 10));
  }
  return days;
}
const DAY_MS = 86_400_000;

async function computeFigures(verified: VerifiedRequisition, options: ComputeOptions) {
  const { spec, selection, vidSampling } = verified;
  const { population, random = secureRandom, signal, onProgress } = options;
  const events = options.events!;
  const query: EventQuery = { ...queryOf(verified), signal, onProgress };
  const [first, second] = releases(verified, options);
  const noisy = (exact: bigint, { mechanism, params, sensitivity }: Release) => {
    const value = exact + drawNoise(mechanism, params, sensitivity, random);
    return value > 0n ? value : 0n;
  };
  const scaled = (exact: bigint, release: Release, maximum: bigint) =>
    smaller(divideByWidth(noisy(exact, release), vidSampling.width), maximum);

  switch (spec.measurementType) {
    case 'REACH': {
      const [reached] = await events.frequencies(query, 1);
      return { reach: figure(scaled(reached!, first!, MAX_INT64), first!, 'deterministicCountDistinct') };
    }
    case 'REACH_AND_FREQUENCY': {
      const counts = await events.frequencies(query, spec.reachAndFrequency.maximumFrequency);
      const reached = counts.reduce((sum, count) => sum + count, 0n);
      return {
        reach: figure(scaled(reached, first!, MAX_INT64), first!, 'deterministicCountDistinct'),
        frequency: {
          relativeFrequencyDistribution: sharesOf(counts.map((count) => noisy(count, second!))),
          noiseMechanism: NOISE[second!.mechanism],
          methodology: { case: 'deterministicDistribution', value: {} },
        },
      } as const;
    }
    case 'IMPRESSION': {
      const maximum = Number(first!.sensitivity);
      const impressions = await events.impressions(query, maximum);
      const overridden = maximum !== spec.impression.maximumFrequencyPerUser;
      const custom = overridden ? { customMaximumFrequencyPerUser: maximum } : {};
      const value = scaled(impressions, first!, MAX_INT64);
      return { impression: figure(value, first!, 'deterministicCount', custom) };
    }
    case 'DURATION': {
      const watched = await events.watchDurationMillis(query, first!.sensitivity);
      const millis = scaled(watched, first!, MAX_DURATION_MS);
      const value = { seconds: millis / 1000n, nanos: Number(millis % 1000n) * 1_000_000 };
      return { watchDuration: figure(value, first!, 'deterministicSum') };
    }
    case 'POPULATION':
      // The count needs no noise, because it counts the model's virtual people, not anything that real people did.
      return {
        population: {
          value: await population!.count(selection.population?.filter, signal),
          methodology: { case: 'deterministicCount', value: {} },
        },
      } as const;
  }
}

/**
 * Returns the measurement's releases in a fixed order. For impressions and durations, the sensitivity is the cap on a
 * person's total over all selected events.
 */
function releases({ spec }: VerifiedRequisition, methodology: Methodology): Release[] {
  // measurementSpecViolations has checked that the parameters are present.
  const release = (params: PrivacyParams | undefined, sensitivity = 1n, changed = 1): Release => ({
    params: params!,
    mechanism: methodology.noise ?? (params!.delta > 0 ? 'DISCRETE_GAUSSIAN' : 'GEOMETRIC'),
    sensitivity,
    changed,
  });
  switch (spec.measurementType) {
    case 'REACH':
      return [release(spec.reach.privacyParams)];
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams } = spec.reachAndFrequency;
      // One privacy unit can move a person from one frequency to another. That changes two counts by one each.
      return [release(reachPrivacyParams), release(frequencyPrivacyParams, 1n, 2)];
    }
    case 'IMPRESSION': {
      const { maximumFrequencyPerUser: asked } = spec.impression;
      const maximum = Math.min(asked, methodology.maximumFrequencyPerUser ?? asked);
      return [release(spec.impression.privacyParams, BigInt(maximum))];
    }
    case 'DURATION':
      return [release(spec.duration.privacyParams, capMillis(spec.duration.maximumWatchDurationPerUser!))];
    case 'POPULATION':
      return [];
  }
}

const NOISE = specs.ProtocolConfig_NoiseMechanism;
const MAX_INT64 = 2n ** 63n - 1n;
/** The longest protobuf Duration, about 10,000 years. */
const MAX_DURATION_MS = 315_576_000_000_000n;

function figure<V, C extends string, M extends object>(
  value: V,
  { mechanism }: Release,
  methodology: C,
  details = {} as M,
) {
  return { value, noiseMechanism: NOISE[mechanism], methodology: { case: methodology, value: details } };
}

/** Returns each frequency's share of the total. If all counts are 0, all shares are 0. */
function sharesOf(counts: bigint[]): Record<string, number> {
  const total = Number(counts.reduce((sum, count) => sum + count, 0n)) || 1;
  return Object.fromEntries(counts.map((count, i) => [String(i + 1), Number(count) / total]));
}

/**
 * Divides by the width as a 32-bit float, and rounds down. The float is a ratio of two integers, so no precision is lost.
 */
function divideByWidth(value: bigint, width: number): bigint {
  const { numerator, denominator } = exactRational(Math.fround(width));
  return (value * denominator) / numerator;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
