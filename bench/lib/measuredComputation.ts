/** The figures of one computation, read from its timeline, its processes and its databases. */
import type { Timeline } from '@measurement-exchange/contract';
import type { BenchDuchy, MpcWorld } from './duchies.ts';
import { processorMs, residentBytes } from './exchange.ts';
import { type Figure, figure } from './figures.ts';

export interface ProcessFigures {
  name: string;
  processorS: number;
  peakMegabytes: number;
}

export interface Computed {
  /** Seconds from COMPUTING, the state that the measurement enters at the last upload, to SUCCEEDED. */
  totalS: number;
  stages: { firstSetupS: number; secondSetupS: number; shuffleS: number; aggregationS: number };
  processes: ProcessFigures[];
  bytes: { upload: number; storedByWorker: number; storedByAggregator: number; sent: number };
}

/** Several computations over the same number of people. */
export interface Size {
  people: number;
  computed: Computed[];
}

export function figureOf(computed: Computed[], value: (one: Computed) => number): Figure {
  return figure(computed.map(value));
}

/** Returns the peak memory of the worker that used more memory. */
export function workerMegabytes({ processes }: Computed): number {
  const workers = processes.filter(({ name }) => name.endsWith('worker'));
  return Math.max(...workers.map(({ peakMegabytes }) => peakMegabytes));
}

export async function measured(world: MpcWorld): Promise<Computed> {
  const processes = [
    ...world.duchies.map(({ role: name, pid }) => ({ name, pid })),
    { name: 'exchange', pid: world.exchange.pid },
  ].map((process) => ({ ...process, before: processorMs(process.pid) }));
  const [timeline] = (await world.compute(1)) as [Timeline];
  const { computingAt, succeededAt, doneAt } = computedOf(timeline);
  const [first, second] = (['first worker', 'second worker'] as const).map(
    (role) => world.duchies.find((duchy) => duchy.role === role)!.name,
  ) as [string, string];
  const firstSetup = doneAt(first, 'SETUP_PHASE');
  const secondSetup = doneAt(second, 'SETUP_PHASE');
  const shuffled = Math.max(doneAt(first, 'SHUFFLE_PHASE'), doneAt(second, 'SHUFFLE_PHASE'));
  return {
    totalS: (succeededAt - computingAt) / 1000,
    stages: {
      firstSetupS: (firstSetup - computingAt) / 1000,
      secondSetupS: (secondSetup - firstSetup) / 1000,
      shuffleS: (shuffled - secondSetup) / 1000,
      aggregationS: (succeededAt - shuffled) / 1000,
    },
    processes: processes.map(({ name, pid, before }) => ({
      name,
      processorS: (processorMs(pid) - before) / 1000,
      peakMegabytes: residentBytes(pid).peak / 1e6,
    })),
    bytes: await bytesOf(world.duchies),
  };
}

/** Reads from the timeline when the computation began and ended, and when each stage was done. */
export function computedOf({ transitions, progress = [] }: Timeline) {
  const enteredAt = (state: string) => {
    const found = transitions.find(({ resource, to }) => !resource.includes('requisitions/') && to === state);
    if (found === undefined) throw new Error(`The timeline has no ${state}.`);
    return Date.parse(found.time);
  };
  const done = progress.filter(({ message }) => message === 'Done.');
  return {
    computingAt: enteredAt('COMPUTING'),
    succeededAt: enteredAt('SUCCEEDED'),
    doneStages: done.length,
    /**
     * The number of progress reports from second and later attempts. A stage is attempted again if an attempt fails, or
     * if the process that runs the stage loses its lease.
     */
    repeatedStages: progress.filter(({ attempt }) => attempt > 1).length,
    doneAt(duchy: string, stage: string): number {
      const found = done.find((entry) => entry.duchy === duchy && entry.stage === stage);
      if (found === undefined) throw new Error(`${duchy} has not reported ${stage}.`);
      return Date.parse(found.time);
    },
  };
}

const BYTES = `
  SELECT (SELECT sum(length) FROM blobs WHERE computation = c.id)::float8 AS stored,
    (SELECT max(b.length) FROM uploads u JOIN blobs b ON b.id = u.blob WHERE u.computation = c.id)::float8 AS upload,
    (SELECT max(b.length) FROM messages m JOIN blobs b ON b.id = m.blob
     WHERE m.computation = c.id AND m.direction = 'OUT')::float8 AS sent
  FROM computations c ORDER BY create_time DESC LIMIT 1`;

async function bytesOf(duchies: BenchDuchy[]): Promise<Computed['bytes']> {
  const rows = await Promise.all(
    duchies.map(async ({ role, database }) => ({ role, ...(await database.query(BYTES))[0] })),
  );
  const workers = rows.filter(({ role }) => role !== 'aggregator') as unknown as Record<string, number>[];
  const aggregator = rows.find(({ role }) => role === 'aggregator') as unknown as Record<string, number>;
  const most = (key: string) => Math.max(...workers.map((row) => row[key] ?? 0));
  return {
    upload: most('upload'),
    storedByWorker: most('stored'),
    storedByAggregator: aggregator.stored!,
    sent: most('sent'),
  };
}
