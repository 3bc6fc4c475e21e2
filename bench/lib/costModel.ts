/** Fits straight lines to the measured costs of a computation, to predict its costs for larger populations. */
import type { ProviderFigures } from './arithmeticFigures.ts';
import { digits, figure } from './figures.ts';
import { type Computed, figureOf, type Size, workerMegabytes } from './measuredComputation.ts';
import { printTable } from './report.ts';

const PLANNED_PEOPLE = [100_000_000, 300_000_000];

/**
 * Fits a straight line to each measured quantity, and prints the costs that the lines predict for larger populations.
 */
export function fitModel(sizes: Size[], providers: ProviderFigures[]) {
  const overSizes = (value: (one: Computed) => number) =>
    sizes.map(({ people, computed }) => ({ people, value: figureOf(computed, value).median }));
  const overProviders = (value: (one: ProviderFigures) => number) =>
    providers.map((one) => ({ people: one.people, value: value(one) }));
  const peakOf = (role: string) => (one: Computed) =>
    one.processes.find(({ name }) => name === role)!.peakMegabytes;
  const quantities = {
    'last upload to SUCCEEDED, s': overSizes(({ totalS }) => totalS),
    'shuffle of both workers, s': overSizes(({ stages }) => stages.shuffleS),
    'aggregation, s': overSizes(({ stages }) => stages.aggregationS),
    'processor of a worker, s': overSizes(
      (one) => one.processes.find(({ name }) => name === 'first worker')!.processorS,
    ),
    'peak memory of a worker, MB': overSizes(workerMegabytes),
    'peak memory of the aggregator, MB': overSizes(peakOf('aggregator')),
    'upload of a provider, MB': overSizes(({ bytes }) => bytes.upload / 1e6),
    'stored by a worker, MB': overSizes(({ bytes }) => bytes.storedByWorker / 1e6),
    'worker to aggregator, MB': overSizes(({ bytes }) => bytes.sent / 1e6),
    'provider: order of the VIDs (once), s': overProviders(({ orderMs }) => orderMs / 1000),
    'provider: vector, s': overProviders(({ vectorMs }) => figure(vectorMs).median / 1000),
  };
  const lines = Object.entries(quantities).map(([what, points]) => ({ what, points, ...fitLine(points) }));
  printTable(
    'Cost model: a straight line through these, and what it says of more people (registers, where a part is sampled)',
    lines.map(({ what, points, off, ...line }) => ({
      what,
      ...Object.fromEntries(points.map(({ people, value }) => [millions(people), digits(value)])),
      'largest error': `${Math.round(100 * off)} %`,
      ...Object.fromEntries(PLANNED_PEOPLE.map((people) => [millions(people), digits(at(line, people))])),
    })),
  );
  return lines;
}

function millions(people: number): string {
  return people >= 1e6 ? `${people / 1e6}M` : `${people / 1e3}k`;
}

interface Line {
  /** The part of the cost that does not depend on the number of people. */
  fixed: number;
  perMillion: number;
  /** The largest relative difference between a measured figure and the line. */
  off: number;
}

interface Point {
  people: number;
  value: number;
}

/**
 * Returns the line with the least sum of squared relative errors. The errors are relative so that small populations
 * count as much as large ones.
 */
function fitLine(points: readonly Point[]): Line {
  let [w, wx, wy, wxx, wxy] = [0, 0, 0, 0, 0];
  for (const { people, value } of points) {
    const x = people / 1e6;
    const weight = 1 / value ** 2;
    w += weight;
    wx += weight * x;
    wy += weight * value;
    wxx += weight * x * x;
    wxy += weight * x * value;
  }
  const perMillion = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  const fixed = (wy - perMillion * wx) / w;
  const line = { fixed, perMillion, off: 0 };
  const off = Math.max(...points.map(({ people, value }) => Math.abs(at(line, people) - value) / value));
  return { ...line, off };
}

function at({ fixed, perMillion }: Pick<Line, 'fixed' | 'perMillion'>, people: number): number {
  return fixed + (perMillion * people) / 1e6;
}
