/**
 * Measures whole computations of Liquid Legions by an exchange and three duchies, each in its own process. The agents
 * of the three providers run in this process.
 */
import type { Timeline } from '@measurement-exchange/contract';
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { createAudiences } from './audiences.ts';
import { startMpcWorld } from './duchies.ts';
import { residentBytes } from './exchange.ts';
import { digits, figure } from './figures.ts';
import { computedOf } from './measuredComputation.ts';
import type { Bench } from './options.ts';
import { atMost, printTable, progress } from './report.ts';

/** The size of the population. The three providers reach 1.35, 0.96 and 0.6 million of these people. */
const PEOPLE = 3_000_000;
const COMPUTATION_SECONDS = 300;
const WORKER_MEGABYTES = 500;

interface Measured {
  protocol: string;
  maxSize: number;
  /** Seconds from the last upload to SUCCEEDED. */
  totalS: number;
  /** Seconds from the last upload until each duchy finished each stage. */
  stages: { duchy: string; stage: string; doneS: number }[];
  peakMegabytes: Record<string, number>;
}

export async function measureLegionsComputations({ server, quick }: Bench, folder: string) {
  const people = quick ? 20_000 : PEOPLE;
  progress(`mpc: events of ${people} people`);
  const files = await createAudiences(folder, people);
  const privacy = quick ? { epsilon: 1, delta: 1e-5 } : { epsilon: 0.1, delta: 1e-9 };
  const ring = { workers: ['duchies/alpha', 'duchies/beta'], aggregator: 'duchies/gamma' };
  const common = { ...ring, decayRate: 12, noiseMechanism: 'DISCRETE_GAUSSIAN' as const };
  const hidden = { histogramPrivacyParams: privacy, publisherPrivacyParams: privacy };
  const sizes = { reachOnlyLiquidLegionsV2: quick ? 300 : 100_000, liquidLegionsV2: quick ? 100 : 10_000 };
  const protocols = {
    reachOnlyLiquidLegionsV2: { ...common, ...hidden, maxSize: sizes.reachOnlyLiquidLegionsV2 },
    liquidLegionsV2: {
      ...{ ...common, ...hidden, maxSize: sizes.liquidLegionsV2 },
      ...{ samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
    },
  };
  const requests = {
    reachOnlyLiquidLegionsV2: { type: 'reach', privacy },
    liquidLegionsV2: { type: 'reachAndFrequency', privacy, maximumFrequency: 10 },
  } satisfies Record<string, Omit<MeasurementRequest, 'dataProviders'>>;
  const measured: Measured[] = [];
  for (const protocol of ['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const) {
    progress(`mpc: ${protocol} over ${people} people`);
    // Each protocol gets new processes, so that their peak memory belongs to that protocol.
    const world = await startMpcWorld({ server, people, files, folder, protocols });
    try {
      const [timeline] = (await world.compute(1, { ...requests[protocol], protocol })) as [Timeline];
      const { computingAt, succeededAt } = computedOf(timeline);
      const done = (timeline.progress ?? []).filter(({ message }) => message === 'Done.');
      measured.push({
        ...{ protocol, maxSize: sizes[protocol], totalS: (succeededAt - computingAt) / 1000 },
        stages: done
          .filter(({ time }) => Date.parse(time) >= computingAt)
          .map(({ duchy, stage, time }) => ({
            duchy,
            stage,
            doneS: (Date.parse(time) - computingAt) / 1000,
          })),
        peakMegabytes: Object.fromEntries(
          world.duchies.map(({ role, pid }) => [role, residentBytes(pid).peak / 1e6]),
        ),
      });
    } finally {
      await world.stop();
    }
  }
  printTable(
    `Liquid Legions over ${people} people, from the last upload to SUCCEEDED; peak memory of each duchy, MB`,
    measured.map(({ protocol, maxSize, totalS, peakMegabytes }) => ({
      ...{ protocol, registers: maxSize, s: digits(totalS) },
      ...Object.fromEntries(Object.entries(peakMegabytes).map(([role, value]) => [role, digits(value)])),
    })),
  );
  printTable(
    'When each duchy was done with each stage, seconds after the last upload',
    measured.flatMap(({ protocol, stages }) =>
      stages.map(({ duchy, stage, doneS }) => ({ protocol, duchy, stage, s: digits(doneS) })),
    ),
  );
  const verdicts = measured.flatMap(({ protocol, maxSize, totalS, peakMegabytes }) => [
    atMost(`${protocol} of ${maxSize}, last upload to SUCCEEDED, s`, figure([totalS]), COMPUTATION_SECONDS),
    atMost(
      `peak memory of a worker, ${protocol} of ${maxSize}, MB`,
      figure([Math.max(peakMegabytes['first worker']!, peakMegabytes['second worker']!)]),
      WORKER_MEGABYTES,
    ),
  ]);
  return { measured, verdicts };
}
