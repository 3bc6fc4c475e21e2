/**
 * Computes direct results (exact figures from the events plus noise) and their privacy cost. The formulas match the
 * public reference system (docs/grpc.md). Like that system, they use the width of the sampling interval as a 32-bit
 * float.
 */
import { create } from '@bufbuild/protobuf';
import {
  liquidLegionsOf,
  type PlainSpec,
  type PrivacyParams,
  type ProtocolConfig,
  specs,
} from '@measurement-exchange/contract';
import { drawNoise, type RandomSource, secureRandom } from '@measurement-exchange/mpc';
import {
  chargedPlaces,
  fromUnits,
  measurementCost,
  type NoiseChoice,
  type PrivacyAmount,
  type Release,
  releasesOf,
  type Units,
} from '@measurement-exchange/mpc/charges';
import { exactRational } from '@measurement-exchange/mpc/privacy/rational';
import { RefusalError } from '../refusals/refusalError.ts';
import { queryOf } from './eventQuery.ts';
import type { EventQuery, Events, SelectedPeople } from './events.ts';
import type { Charge } from './ledger/charges.ts';
import { type Chargeable, computationCharge } from './multiParty/charge.ts';
import type { Population } from './population.ts';
import { slicesOf } from './slice.ts';
import type { VerifiedRequisition } from './verify.ts';

/** The data and the noise that a provider uses to compute results. */
export interface Methodology extends NoiseChoice {
  events?: Events | undefined;
  /** The virtual population. Only population measurements need it. */
  population?: Population | undefined;
}

/** A methodology plus the options for one computation. */
export interface ComputeOptions extends Methodology {
  random?: RandomSource | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((percent: number) => void) | undefined;
}

/**
 * Throws a refusal if the provider does not offer the measurement or can never compute it. Returns the people whose
 * events the result can depend on, or undefined for a population measurement. Reads no events.
 */
export async function requireComputable(
  verified: VerifiedRequisition,
  methodology: Methodology,
): Promise<SelectedPeople | undefined> {
  const { spec, selection } = verified;
  const { events, population, noise } = methodology;
  if (selection.population) {
    if (!population)
      throw new RefusalError('POPULATION_NOT_OFFERED', 'This provider has no population figures.');
    await population.count(selection.population.filter);
    return undefined;
  }
  if (!events) throw new RefusalError('EVENTS_NOT_OFFERED', 'This provider has population figures only.');
  if (spec.measurementType === 'DURATION' && !events.hasDuration) {
    throw new RefusalError('DURATION_NOT_OFFERED', 'This provider does not record watch durations.');
  }
  const isComputed = verified.shareShuffle ?? verified.liquidLegions;
  for (const { params } of isComputed ? [] : releasesOf(spec, methodology)) {
    if (noise !== 'DISCRETE_GAUSSIAN' || params.delta > 0) continue;
    throw new RefusalError(
      'DELTA_REQUIRED',
      'This provider adds Gaussian noise, which needs a delta above 0.',
    );
  }
  return events.check(queryOf(verified));
}

/**
 * Returns the charges for the result. The charges never depend on the events. An event group reference is the value
 * that selects an event group's events in the provider's data. Each reference is charged the full cost for each UTC day
 * that a collection interval overlaps. A reference is charged once per day, even if several event groups select it. The
 * charges apply only to `people`, or to everybody if `people` is undefined.
 */
export function chargesFor(
  verified: VerifiedRequisition,
  methodology: Methodology,
  people?: SelectedPeople,
): Charge[] {
  const cost = costOf(verified, methodology);
  const sliceOf = slicesOf(verified, people);
  return chargedPlaces(verified.selection.events ?? []).map(({ reference, day, at: [event, n], events }) => ({
    reference,
    day,
    slice: sliceOf(events),
    cost,
    at: `events[${event}], day ${n + 1}`,
  }));
}

/**
 * Returns the cost of a direct reach result, per event group reference and day. If `frequency` is given, the cost
 * includes a frequency distribution.
 */
export function reachCost(
  reach: PrivacyParams,
  frequency: PrivacyParams | undefined,
  choice: NoiseChoice,
): PrivacyAmount {
  const reachAndFrequency = { reachPrivacyParams: reach, frequencyPrivacyParams: frequency };
  const spec = frequency
    ? { measurementType: 'REACH_AND_FREQUENCY', reachAndFrequency }
    : { measurementType: 'REACH', reach: { privacyParams: reach } };
  return fromUnits(measurementCost(spec as PlainSpec, undefined, 1, choice));
}

/**
 * Returns the cost of a result, per event group reference and day, as the agent would charge it. The spec must be
 * valid, and the protocol must be able to compute the result.
 */
export function expectedCost(
  spec: PlainSpec,
  protocolConfig: ProtocolConfig,
  choice: NoiseChoice = {},
): PrivacyAmount {
  const { honestMajorityShareShuffle: config } = protocolConfig;
  const liquidLegions = liquidLegionsOf(protocolConfig);
  const shareShuffle = config && { config };
  return fromUnits(
    costOf({ spec, ...(shareShuffle && { shareShuffle }), ...(liquidLegions && { liquidLegions }) }, choice),
  );
}

function costOf(request: Chargeable, choice: NoiseChoice): Units {
  if (request.shareShuffle || request.liquidLegions) return computationCharge(request);
  return measurementCost(request.spec, undefined, 1, choice);
}

/**
 * Computes a result with fresh noise. Call this only once per requisition, because two results with different noise
 * over the same data leak information.
 */
export async function computeResult(
  verified: VerifiedRequisition,
  options: ComputeOptions,
): Promise<specs.Measurement_Result> {
  await requireComputable(verified, options);
  return create(specs.Measurement_ResultSchema, await computeFigures(verified, options));
}

async function computeFigures(verified: VerifiedRequisition, options: ComputeOptions) {
  const { spec, selection, vidSampling } = verified;
  const { population, random = secureRandom, signal, onProgress } = options;
  const events = options.events!;
  const query: EventQuery = { ...queryOf(verified), signal, onProgress };
  const [first, second] = releasesOf(spec, options);
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
      // The count needs no noise, because it counts the population's virtual people, not anything that real people did.
      return {
        population: {
          value: await population!.count(selection.population?.filter, signal),
          methodology: { case: 'deterministicCount', value: {} },
        },
      } as const;
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

/** Returns each count as a share of all counts. If all counts are 0, all shares are 0. */
function sharesOf(counts: bigint[]): Record<string, number> {
  const total = Number(counts.reduce((sum, count) => sum + count, 0n)) || 1;
  return Object.fromEntries(counts.map((count, i) => [String(i + 1), Number(count) / total]));
}

/**
 * Divides by the width as a 32-bit float, and rounds down. A float is a ratio of two integers, so the quotient is exact
 * until it is rounded down.
 */
function divideByWidth(value: bigint, width: number): bigint {
  const { numerator, denominator } = exactRational(Math.fround(width));
  return (value * denominator) / numerator;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
