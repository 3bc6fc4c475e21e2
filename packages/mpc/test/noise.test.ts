/**
 * Tests the noise that each duchy in a ring adds, from the signed spec to the drawn registers and tuples. The expected
 * values are the formulas of the reference system and the variances of its distributions. The privacy parameters of
 * every count differ, with variances at least 1.5 times apart and different offsets. Every run therefore detects noise
 * that is missing or drawn for another count. With 400 draws, five standard errors of a variance are 35 % for Gaussian
 * noise and 85 % for geometric noise. Stress runs have 20,000 draws, for which five standard errors are 5 % and 12 %.
 */

import { create, toBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { planOf } from '@measurement-exchange/duchy/internal/computations/plan';
import type { StoredComputation } from '@measurement-exchange/duchy/internal/database/index';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import {
  drawNoiseRegisters,
  NOISE_KINDS,
  type NoiseKind,
  readNoiseRegisters,
} from '../src/protocols/liquidLegions/noiseRegisters.ts';
import { drawNoiseTuples } from '../src/protocols/liquidLegions/noiseTuples.ts';

const DRAWS = rounds(20_000, 400);
const [PROVIDERS, DUCHIES, MAXIMUM] = [3, 3, 4];

const PRIVACY = {
  reach: { epsilon: 0.9, delta: 1e-3 },
  frequency: { epsilon: 3, delta: 1e-4 },
  histogram: { epsilon: 0.8, delta: 1e-5 },
  publisher: { epsilon: 0.3, delta: 1e-6 },
};
type Count = keyof typeof PRIVACY;
/** The maximum amount by which one person can change each count. Only geometric noise uses this amount. */
const SENSITIVITY: Record<Count, number> = { reach: 1, frequency: 2, histogram: 2, publisher: PROVIDERS };

interface Shape {
  offset: number;
  /** The variance of one duchy's part. */
  variance: number;
  /** The fourth moment divided by the square of the variance. */
  kurtosis: number;
}

const SHAPES: Record<'DISCRETE_GAUSSIAN' | 'GEOMETRIC', (count: Count) => Shape> = {
  DISCRETE_GAUSSIAN(count) {
    const { epsilon, delta } = PRIVACY[count];
    const sigma = Math.sqrt(2 * Math.log(1.25 / (delta / 2))) / epsilon;
    const part = sigma / Math.sqrt(DUCHIES);
    const tail = (DUCHIES * (1 + Math.exp(epsilon))) / (delta / 2);
    return { offset: Math.ceil(part * Math.sqrt(2 * Math.log(tail))), variance: part ** 2, kurtosis: 3 };
  },
  GEOMETRIC(count) {
    const { epsilon, delta } = PRIVACY[count];
    const sensitivity = SENSITIVITY[count];
    const ratio = Math.exp(-epsilon / sensitivity);
    const tail = (2 * DUCHIES * sensitivity * (1 + Math.exp(epsilon))) / delta;
    return {
      offset: Math.ceil((sensitivity / epsilon) * Math.log(tail)),
      variance: (2 * ratio) / (1 - ratio) ** 2 / DUCHIES,
      // The kurtosis of a two-sided geometric draw is close to 6, as for a Laplace draw, so its excess is about 3. One
      // of three equal parts has three times this excess.
      kurtosis: 3 + 3.2 * DUCHIES,
    };
  },
};

type Mechanism = keyof typeof SHAPES;
type Protocol = 'liquidLegionsV2' | 'reachOnlyLiquidLegionsV2';

/** A computation as a duchy stores it. */
function computation(protocol: Protocol, noiseMechanism: Mechanism): StoredComputation {
  const measurementType =
    protocol === 'liquidLegionsV2'
      ? ({
          case: 'reachAndFrequency',
          value: {
            reachPrivacyParams: PRIVACY.reach,
            frequencyPrivacyParams: PRIVACY.frequency,
            maximumFrequency: MAXIMUM,
          },
        } as const)
      : ({ case: 'reach', value: { privacyParams: PRIVACY.reach } } as const);
  const spec = create(specs.MeasurementSpecSchema, {
    measurementType,
    vidSamplingInterval: { start: 0, width: 1 },
  });
  const ring = {
    ...{ workers: ['duchies/alpha', 'duchies/beta'], aggregator: 'duchies/gamma', noiseMechanism },
    ...{ decayRate: 12, maxSize: 1000, samplingIndicatorSize: 1000, maximumFrequency: 10 },
    histogramPrivacyParams: PRIVACY.histogram,
    publisherPrivacyParams: PRIVACY.publisher,
  };
  return {
    protocol,
    view: { protocolConfig: { [protocol]: ring }, requisitions: Array(PROVIDERS).fill({}) },
    spec: toBinary(specs.MeasurementSpecSchema, spec),
  } as unknown as StoredComputation;
}

/** Lists of drawn counts by name, with one number per draw. */
class Drawn {
  readonly counts = new Map<string, number[]>();

  add(name: string, count: number): void {
    const counts = this.counts.get(name) ?? [];
    counts.push(count);
    this.counts.set(name, counts);
  }
}

function drawRegisters(protocol: Protocol, mechanism: Mechanism): { drawn: Drawn; sizes: Set<number> } {
  const { parameters } = planOf(protocol, computation(protocol, mechanism));
  const dice = new Dice(`registers ${protocol} ${mechanism}`);
  const drawn = new Drawn();
  const sizes = new Set<number>();
  for (let i = 0; i < DRAWS; i++) {
    const { registers, histogramCount } = drawNoiseRegisters(0, { parameters, seed: dice.seed() });
    const kinds = Object.fromEntries(NOISE_KINDS.map((kind) => [kind, 0])) as Record<NoiseKind, number>;
    const copies = new Map<string, number>();
    for (const { kind, number } of readNoiseRegisters(registers)) {
      kinds[kind]++;
      if (kind === 'padding' || kind === 'publisher') continue;
      const name = `${kind} ${Buffer.from(number).toString('hex')}`;
      copies.set(name, (copies.get(name) ?? 0) + 1);
    }
    sizes.add(registers.length);
    drawn.add('publisher', kinds.publisher);
    drawn.add('reach', kinds.reach);
    const groups = [...copies].filter(([name]) => name.startsWith('histogram'));
    for (let k = 1; k <= PROVIDERS; k++) {
      drawn.add(`histogram of ${k}`, groups.filter(([, times]) => times === k).length);
    }
    // Each reach register must have a unique number. The reported count must be the number of histogram groups.
    expect([...copies].filter(([name]) => name.startsWith('reach')).every(([, times]) => times === 1)).toBe(
      true,
    );
    expect(groups.length).toBe(histogramCount);
  }
  return { drawn, sizes };
}

function drawTuples(mechanism: Mechanism): Drawn {
  const { parameters } = planOf('liquidLegionsV2', computation('liquidLegionsV2', mechanism));
  const dice = new Dice(`tuples ${mechanism}`);
  const drawn = new Drawn();
  for (let i = 0; i < DRAWS; i++) {
    const tuples = drawNoiseTuples(0, { parameters, seed: dice.seed() });
    for (let f = 1; f <= MAXIMUM; f++) {
      drawn.add(`frequency ${f}`, tuples.filter((what) => what === f).length);
    }
    drawn.add('several people', tuples.filter((what) => what === 0).length);
    expect(tuples.length).toBe(2 * SHAPES[mechanism]('frequency').offset * (MAXIMUM + 1));
    expect(tuples.every((what) => what <= MAXIMUM || what === 255)).toBe(true);
  }
  return drawn;
}

function expectShape(counts: readonly number[], { offset, variance, kurtosis }: Shape, known = 0): void {
  expect(counts.length).toBe(DRAWS);
  const mean = counts.reduce((sum, count) => sum + count, 0) / DRAWS;
  const found = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (DRAWS - 1);
  expect(Math.abs(mean - known - offset)).toBeLessThan(5 * Math.sqrt(variance / DRAWS));
  expect(Math.abs(found / variance - 1)).toBeLessThan(5 * Math.sqrt((kurtosis - 1) / DRAWS));
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(known);
  expect(Math.max(...counts)).toBeLessThanOrEqual(known + 2 * offset);
}

test('the noise parameters of the counts differ enough to detect noise of another count', () => {
  for (const shape of Object.values(SHAPES)) {
    const shapes = (Object.keys(PRIVACY) as Count[]).map(shape);
    const [first, ...rest] = shapes.map(({ variance }) => variance).sort((a, b) => a - b) as [number];
    rest.reduce((before: number, after: number) => {
      expect(after / before).toBeGreaterThan(1.5);
      return after;
    }, first);
    expect(new Set(shapes.map(({ offset }) => offset)).size).toBe(4);
  }
});

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s noise of one duchy', (mechanism) => {
  const shape = SHAPES[mechanism];

  test.each(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const)(
    'has the specified distribution for reach, publishers and each number of providers in %s',
    (protocol) => {
      const { drawn, sizes } = drawRegisters(protocol, mechanism);
      const known = protocol === 'liquidLegionsV2' ? PROVIDERS + 1 : 1;
      expectShape(drawn.counts.get('reach')!, shape('reach'));
      expectShape(drawn.counts.get('publisher')!, shape('publisher'), known);
      for (let k = 1; k <= PROVIDERS; k++) {
        expectShape(drawn.counts.get(`histogram of ${k}`)!, shape('histogram'));
      }
      expect(sizes.size).toBe(1);
    },
  );

  test('has the specified distribution for every frequency and for registers with several people', () => {
    const drawn = drawTuples(mechanism);
    for (let f = 1; f <= MAXIMUM; f++) expectShape(drawn.counts.get(`frequency ${f}`)!, shape('frequency'));
    expectShape(drawn.counts.get('several people')!, shape('frequency'));
  });
});
