/**
 * Measures deduplicated counts: the arithmetic of duchies and providers, whole computations, two mills per duchy
 * instead of one, and how the cost grows with the number of people.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Arithmetic } from './lib/arithmetic.ts';
import { measureArithmetic, measureProviders } from './lib/arithmeticFigures.ts';
import { createAudiences } from './lib/audiences.ts';
import { fitModel } from './lib/costModel.ts';
import { startMpcWorld } from './lib/duchies.ts';
import { figure, ratio, show } from './lib/figures.ts';
import { measureLegionsComputations } from './lib/legionsComputations.ts';
import { measureLegions } from './lib/legionsFigures.ts';
import {
  type Computed,
  computedOf,
  figureOf,
  measured,
  type Size,
  workerMegabytes,
} from './lib/measuredComputation.ts';
import type { Bench } from './lib/options.ts';
import { startWorker } from './lib/processes.ts';
import { atLeast, atMost, printTable, progress, type Section, type Verdict } from './lib/report.ts';

const PEOPLE = [1_000_000, 3_000_000, 10_000_000];
const QUICK_PEOPLE = [20_000, 50_000, 100_000];
/** The maximum number of rounds. It is low, because a whole computation takes seconds. */
const MAX_ROUNDS = 3;
const COMPUTATIONS_AT_ONCE = 6;

const WORKER_MEGABYTES = 400;
const COMPUTATION_SECONDS = 8;
/**
 * The minimum speed with two mills (stage-running processes) per duchy, relative to the speed with one mill. One mill
 * per duchy already keeps two cores busy. A second mill therefore cannot make the duchy faster, but must not make the
 * duchy much slower either.
 */
const TWO_MILLS_RATIO = 0.9;

/** The parts of this section, which `--operations` selects. The cost model needs the part `computations`. */
const PARTS = ['arithmetic', 'computations', 'mills', 'legions'];

export async function mpc(bench: Bench): Promise<Section> {
  const people = bench.quick ? QUICK_PEOPLE : PEOPLE;
  const parts = new Set(bench.operations ?? PARTS);
  const folder = await mkdtemp(join(tmpdir(), 'mex-bench-people-'));
  const worker = await startWorker<Arithmetic>('arithmetic.ts');
  const section: Section & { data: Record<string, unknown> } = { name: 'mpc', data: {}, verdicts: [] };
  const keep = <Part extends { verdicts: Verdict[] }>(name: string, part: Part): Part => {
    section.data[name] = part;
    section.verdicts.push(...part.verdicts);
    return part;
  };
  try {
    if (parts.has('arithmetic')) {
      keep('arithmetic', await measureArithmetic(bench, worker, [people[0]!, people.at(-1)!]));
    }
    if (parts.has('legions')) {
      keep('legions', await measureLegions(bench));
      keep('legionsComputations', await measureLegionsComputations(bench, folder));
    }
    const ofShares = PARTS.filter((part) => part !== 'legions' && parts.has(part));
    if (ofShares.length === 0) return section;
    const files = new Map<number, string[]>();
    for (const count of parts.has('computations') ? people : people.slice(0, 1)) {
      progress(`mpc: events of ${count} people`);
      files.set(count, await createAudiences(folder, count));
    }
    const providers = keep('providers', await measureProviders(bench, worker, folder, files));
    await worker.stop();
    if (parts.has('computations')) {
      const computations = keep('computations', await measureComputations(bench, folder, files));
      section.data.model = fitModel(computations.measured, providers.measured);
    }
    if (parts.has('mills')) keep('mills', await measureMills(bench, folder, files));
    return section;
  } finally {
    await worker.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureComputations(bench: Bench, folder: string, files: Map<number, string[]>) {
  const rounds = Math.min(bench.rounds, MAX_ROUNDS);
  const sizes: Size[] = [];
  for (const [people, ownFiles] of files) {
    // Each size gets new processes, so that their peak memory belongs to that size.
    const world = await startMpcWorld({ server: bench.server, people, files: ownFiles, folder });
    try {
      const computed: Computed[] = [];
      for (let round = 0; round <= rounds; round++) {
        progress(`mpc: computation over ${people} people, round ${round} of ${rounds}`);
        const one = await measured(world);
        if (round > 0) computed.push(one);
      }
      sizes.push({ people, computed });
    } finally {
      await world.stop();
    }
  }
  printTable(
    'From the last upload to SUCCEEDED, seconds; three providers, all programs on this machine',
    sizes.map(({ people, computed }) => ({
      people,
      all: show(figureOf(computed, ({ totalS }) => totalS)),
      'seeds, first worker': show(figureOf(computed, ({ stages }) => stages.firstSetupS)),
      'seeds, second worker': show(figureOf(computed, ({ stages }) => stages.secondSetupS)),
      'shuffle, both': show(figureOf(computed, ({ stages }) => stages.shuffleS)),
      aggregation: show(figureOf(computed, ({ stages }) => stages.aggregationS)),
    })),
  );
  printTable(
    'Of one computation, uploads included: processor seconds; and the peak memory of each process, MB',
    sizes.flatMap(({ people, computed }) =>
      computed[0]!.processes.map(({ name }) => {
        const of = (key: 'processorS' | 'peakMegabytes') =>
          show(figureOf(computed, ({ processes }) => processes.find((p) => p.name === name)![key]));
        return { people, process: name, 'processor s': of('processorS'), 'peak MB': of('peakMegabytes') };
      }),
    ),
  );
  printTable(
    'Bytes of one computation',
    sizes.map(({ people, computed: [one] }) => ({
      people,
      'upload of a provider': one!.bytes.upload.toLocaleString('en-US'),
      'stored by a worker': one!.bytes.storedByWorker.toLocaleString('en-US'),
      'stored by the aggregator': one!.bytes.storedByAggregator.toLocaleString('en-US'),
      'worker to aggregator': one!.bytes.sent.toLocaleString('en-US'),
    })),
  );
  const { people, computed } = sizes.at(-1)!;
  return {
    measured: sizes,
    verdicts: [
      atMost(
        `last upload to SUCCEEDED of ${people}, s`,
        figureOf(computed, ({ totalS }) => totalS),
        COMPUTATION_SECONDS,
      ),
      atMost(`peak memory of a worker, ${people}, MB`, figureOf(computed, workerMegabytes), WORKER_MEGABYTES),
    ],
  };
}

/** Runs several computations in parallel, alternately with one mill and with two mills per duchy. */
async function measureMills(bench: Bench, folder: string, files: Map<number, string[]>) {
  const [[people, ownFiles]] = [...files] as [[number, string[]]];
  const rounds = Math.min(bench.rounds, MAX_ROUNDS);
  const count = bench.quick ? 2 : COMPUTATIONS_AT_ONCE;
  const perMinute: Record<1 | 2, number[]> = { 1: [], 2: [] };
  let [repeated, done, byTheSecond] = [0, 0, 0];
  const world = await startMpcWorld({ server: bench.server, people, files: ownFiles, folder });
  try {
    await world.compute(count);
    for (let round = 1; round <= rounds; round++) {
      for (const mills of [1, 2] as const) {
        progress(`mpc: ${count} computations with ${mills} mills, round ${round} of ${rounds}`);
        await using opened = new AsyncDisposableStack();
        const added = mills === 2 ? await world.addMills() : undefined;
        opened.defer(async () => added?.stop());
        const computed = (await world.compute(count)).map(computedOf);
        const from = Math.min(...computed.map(({ computingAt }) => computingAt));
        const until = Math.max(...computed.map(({ succeededAt }) => succeededAt));
        perMinute[mills].push((60_000 * count) / (until - from));
        if (added === undefined) continue;
        repeated += computed.reduce((sum, { repeatedStages }) => sum + repeatedStages, 0);
        done += computed.reduce((sum, { doneStages }) => sum + doneStages, 0);
        byTheSecond += added.stagesDone();
      }
    }
  } finally {
    await world.stop();
  }
  printTable(`Mills of each duchy: ${count} computations at once over ${people} people`, [
    {
      'one, per minute': show(figure(perMinute[1])),
      'two, per minute': show(figure(perMinute[2])),
      'two / one': show(ratio(perMinute[2], perMinute[1])),
      'stages with two': done,
      'of them by the second': byTheSecond,
      'taken more than once': repeated,
    },
  ]);
  const verdicts: Verdict[] = [
    atLeast('two mills for each duchy / one', ratio(perMinute[2], perMinute[1]), TWO_MILLS_RATIO),
    atMost('stages that two mills took more than once', figure([repeated]), 0),
  ];
  return { people, count, perMinute, done, byTheSecond, repeated, verdicts };
}
