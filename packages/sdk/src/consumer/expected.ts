/**
 * Computes the expected uncertainty of a measurement's figures, without any data. Assumes a value for each figure, and
 * then estimates the error in the same way as for a real result.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type PlainSpec, specs } from '@measurement-exchange/contract';
import type { Estimate } from '@measurement-exchange/mpc';
import { releasesOf } from '@measurement-exchange/mpc/charges';
import { deduplicatedFigures } from './deduplicated.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { DuchyProtocol } from './protocol.ts';

/**
 * The figures that have an expected uncertainty. `frequencyShare` stands for all shares of the frequency distribution
 * together. Its margin is the largest margin of a share.
 */
export type ExpectedName = 'reach' | 'frequencyShare' | 'impressions' | 'watchDurationSeconds' | 'population';

/** The expected uncertainty of a figure. */
export interface ExpectedFigure {
  figure: ExpectedName;
  /**
   * The distance from the value to the farther end of its 95% interval. Absent if it is unknown. For a share, 0.01 is
   * one percentage point.
   */
  margin?: number;
  /**
   * The value that was assumed for the figure. For a share, this is the assumed reach. Absent if the margin does not
   * depend on the assumed value.
   */
  assumed?: number;
}

/**
 * Returns the expected uncertainty of each figure. Without a duchy protocol, each data provider computes its own
 * figures.
 */
export function expectedFigures(
  spec: PlainSpec,
  computed: DuchyProtocol | undefined,
  assumed: number,
): ExpectedFigure[] {
  const at = (value: number) => marginsOf(figuresAt(spec, computed, value));
  const twice = at(2 * assumed);
  return [...at(assumed)].map(([figure, margin]) => ({
    figure,
    ...(Number.isFinite(margin) && { margin }),
    // Return the assumed value only if the margin depends on it, that is, if twice the value gives another margin. The
    // tolerance allows for rounding errors.
    ...(Math.abs(twice.get(figure)! - margin) > 1e-6 * margin && { assumed }),
  }));
}

function marginsOf({ frequency, ...figures }: Figures): Map<ExpectedName, number> {
  const margins = new Map<ExpectedName, number>();
  for (const name of ['reach', 'impressions', 'watchDurationSeconds', 'population'] as const) {
    if (figures[name]) margins.set(name, marginOf(figures[name]));
  }
  if (frequency) margins.set('frequencyShare', Math.max(...frequency.map(({ share }) => marginOf(share))));
  return margins;
}

/** Returns the distance from the value to the farther end of the interval, which may be asymmetric. */
function marginOf({ value, variance, interval: [low, high] }: Estimate): number {
  return Number.isFinite(variance) ? Math.max(high - value, value - low) : Number.POSITIVE_INFINITY;
}

function figuresAt(spec: PlainSpec, computed: DuchyProtocol | undefined, value: number): Figures {
  if (computed === undefined) return figuresOf(spec, resultOf(directResult(spec, BigInt(value))));
  return deduplicatedFigures(spec, resultOf(computedResult(spec, computed, BigInt(value))), computed);
}

type ResultInit = Exclude<MessageInitShape<typeof specs.Measurement_ResultSchema>, { $typeName: string }>;
const resultOf = (init: ResultInit) => create(specs.Measurement_ResultSchema, init);
const NOISE = specs.ProtocolConfig_NoiseMechanism;

/**
 * Returns the result that a data provider would give if the figure had this value. Assumes the default noise mechanism.
 */
function directResult(spec: PlainSpec, value: bigint): ResultInit {
  const [first, second] = releasesOf(spec).map(({ mechanism }) => NOISE[mechanism]);
  const counted = (
    methodology: 'deterministicCountDistinct' | 'deterministicCount' | 'deterministicSum',
  ) => ({
    noiseMechanism: first!,
    methodology: { case: methodology, value: {} },
  });
  switch (spec.measurementType) {
    case 'REACH':
      return { reach: { value, ...counted('deterministicCountDistinct') } } as ResultInit;
    case 'REACH_AND_FREQUENCY':
      return {
        reach: { value, ...counted('deterministicCountDistinct') },
        frequency: {
          relativeFrequencyDistribution: evenShares(spec.reachAndFrequency.maximumFrequency),
          noiseMechanism: second!,
          methodology: { case: 'deterministicDistribution', value: {} },
        },
      } as ResultInit;
    case 'IMPRESSION':
      return { impression: { value, ...counted('deterministicCount') } } as ResultInit;
    case 'DURATION':
      return { watchDuration: { value: { seconds: value }, ...counted('deterministicSum') } } as ResultInit;
    case 'POPULATION':
      return { population: { value, methodology: { case: 'deterministicCount', value: {} } } };
  }
}

/**
 * The assumed population size. It is an upper bound, because all virtual person IDs (VIDs) in a population at the
 * exchange are below 2^31. The expected sampling error is therefore also an upper bound.
 */
const MAX_PEOPLE = 2n ** 31n;

function computedResult(spec: PlainSpec, { protocol, config }: DuchyProtocol, value: bigint): ResultInit {
  const how = {
    noiseMechanism: NOISE[config.noiseMechanism],
    methodology: {
      case: protocol,
      value: protocol === 'honestMajorityShareShuffle' ? { frequencyVectorSize: MAX_PEOPLE } : {},
    },
  };
  const reach = { value, ...how };
  if (spec.measurementType !== 'REACH_AND_FREQUENCY') return { reach } as ResultInit;
  const relativeFrequencyDistribution = evenShares(spec.reachAndFrequency.maximumFrequency);
  return { reach, frequency: { relativeFrequencyDistribution, ...how } } as ResultInit;
}

function evenShares(maximumFrequency: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: maximumFrequency }, (_, i) => [String(i + 1), 1 / maximumFrequency]),
  );
}
