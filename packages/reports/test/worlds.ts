/**
 * Creates worlds (test populations with an exact number of people in each atom), and answers needs about them with the
 * product's noise code. An atom is the set of people whom exactly one combination of segments reaches.
 */
import type { LiquidLegionsConfig, ShareShuffleConfig } from '@measurement-exchange/contract';
import {
  drawAggregatorNoise,
  drawMpcNoise,
  drawNoise,
  mpcNoise,
  type RandomSource,
} from '@measurement-exchange/mpc';
import type { Answer, PlannedNeed, ReportDefinition, Surroundings } from '../src/index.ts';

export type Random = RandomSource & { next(): number };

/** A seeded random generator: mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const bytes = (n: number) => {
    const drawn = new Uint8Array(n);
    for (let i = 0; i < n; i++) drawn[i] = next() * 256;
    return drawn;
  };
  return { next, bytes };
}

export const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

export function definitionOf(segments: number, parts: Partial<ReportDefinition>): ReportDefinition {
  const names = NAMES.slice(0, segments);
  return {
    title: 'A report',
    interval: { start: '2026-07-06', end: '2026-08-03', timeZone: 'UTC' },
    segments: Object.fromEntries(
      names.map((name) => [name, { eventGroups: [`dataProviders/${name}/eventGroups/1`] }]),
    ),
    figures: [],
    budget: { rho: 0.5, delta: 1e-9 },
    ...parts,
  };
}

export type ProtocolName = 'honestMajorityShareShuffle' | 'reachOnlyLiquidLegionsV2' | 'liquidLegionsV2';

const duchies = { aggregator: 'duchies/z', noiseMechanism: 'DISCRETE_GAUSSIAN' as const };
export const SKETCH = { decayRate: 12, maxSize: 20_000, samplingIndicatorSize: 10_000_000 };

export function surroundingsOf(protocol: ProtocolName, more: Partial<Surroundings> = {}): Surroundings {
  const hidden = { epsilon: 0.02, delta: 1e-9 };
  const config =
    protocol === 'honestMajorityShareShuffle'
      ? ({
          ...duchies,
          firstWorker: 'duchies/x',
          secondWorker: 'duchies/y',
          ringModulus: 127,
        } as unknown as ShareShuffleConfig)
      : ({
          ...{ ...duchies, ...SKETCH, workers: ['duchies/x', 'duchies/y'] },
          ...{ histogramPrivacyParams: hidden, publisherPrivacyParams: hidden },
        } as unknown as LiquidLegionsConfig);
  // The frequency protocol of Liquid Legions cannot measure reach alone, so reach uses the reach-only protocol.
  const protocolFor = (type: string) =>
    protocol === 'liquidLegionsV2' && type === 'REACH' ? 'reachOnlyLiquidLegionsV2' : protocol;
  return { computedBy: (type) => ({ protocol: protocolFor(type), config }) as never, ...more };
}

export function reachIn(people: readonly number[], union: number): number {
  return people.reduce((sum, count, atom) => (atom & union ? sum + count : sum), 0);
}

/** Answers a need with the true number `people` plus the noise of a data provider or of the share shuffle protocol. */
export function answer(
  planned: PlannedNeed,
  people: number,
  random: RandomSource,
  population: number,
): Answer {
  const { params, computed, need } = planned;
  const { width } = need.vidSamplingInterval;
  const mechanism = 'DISCRETE_GAUSSIAN';
  const noise = { mechanism, params } as const;
  if (computed === undefined) {
    const value = Math.max(0, people + Number(drawNoise(mechanism, params, 1n, random)));
    return { value, methodology: { protocol: 'direct', width, noise } };
  }
  const drawn = mpcNoise(mechanism, params);
  const workers = drawMpcNoise(drawn, random) + drawMpcNoise(drawn, random) - 2 * drawn.offset;
  const value = Math.min(Math.max(0, people + workers + drawAggregatorNoise(drawn, random)), population);
  const protocol = 'honestMajorityShareShuffle';
  return { value, methodology: { protocol, width, noise, frequencyVectorSize: population } };
}

/** Five worlds by name. Each function returns the number of people of each atom, for `n` segments. */
export const WORLDS: Record<string, (n: number) => number[]> = {
  interior: (n) => atomsWith(n, () => Math.ceil(9000 / 2 ** n)),
  disjoint: (n) => atomsWith(n, (atom) => (isSingle(atom) ? 2000 : 0)),
  nested: (n) => atomsWith(n, (atom) => (isSingle(atom + 1) ? 1500 : 0)),
  giant: (n) => atomsWith(n, (atom) => (atom === 1 ? 9000 : 10)),
  noise: (n) => atomsWith(n, () => 1),
};

const isSingle = (atom: number) => (atom & (atom - 1)) === 0;
const atomsWith = (n: number, people: (atom: number) => number) =>
  Array.from({ length: 1 << n }, (_, atom) => (atom === 0 ? 0 : people(atom)));
