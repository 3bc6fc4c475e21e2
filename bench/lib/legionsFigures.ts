/**
 * Measures the stages of Liquid Legions, each duchy in its own process, and compares them with the operations that
 * every implementation needs.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RingKeys, ringKeys } from '@measurement-exchange/mpc/protocols/liquidLegions/ringKeys';
import { Keystream, newSeed } from '@measurement-exchange/mpc/shares';
import { newKeyPair } from '@measurement-exchange/mpc/sketches';
import { digits, figure } from './figures.ts';
import type { LegionsDuchy, StageTimes } from './legionsDuchy.ts';
import {
  frequencyOperations,
  type LegionsSize,
  type Operations,
  reachOnlyOperations,
  yardstickMs,
} from './legionsSpec.ts';
import type { Bench } from './options.ts';
import { startWorker, type Worker } from './processes.ts';
import { atLeast, atMost, printTable, progress, type Verdict } from './report.ts';

const DUCHIES = 3;
const PROVIDERS = 3;
const STAGE_RATIO = 0.7;
/**
 * A stage is compared with its curve operations only if these operations take more processor time than this. The other
 * stages mostly start threads and sort.
 */
const COMPARED_MS = 1000;
const WORKER_MEGABYTES = 500;

interface Measured extends StageTimes {
  protocol: string;
  stage: string;
  duchy: number;
  yardstickMs: number | undefined;
}

/** Runs one computation of a protocol, and measures each stage. */
class Run {
  readonly stages: Measured[] = [];
  private readonly size: LegionsSize;
  private readonly isFull: boolean;
  private readonly folder: string;
  private readonly duchies: Worker<LegionsDuchy>[];
  private readonly keys: RingKeys[];
  private readonly bytes = new Map<string, number>();
  private active = 0;
  private costs!: Operations;

  constructor(size: LegionsSize, isFull: boolean, folder: string, duchies: Worker<LegionsDuchy>[]) {
    this.size = size;
    this.isFull = isFull;
    this.folder = folder;
    this.duchies = duchies;
    const random = new Keystream(newSeed());
    const pairs = duchies.map(() => newKeyPair(random));
    const publicKeys = pairs.map(({ publicKey }) => publicKey);
    this.keys = pairs.map(({ secretKey }, place) => ringKeys(secretKey, publicKeys, place));
  }

  async measure(people: number): Promise<void> {
    await this.measureCosts();
    const sketches = await this.sketches(people);
    const workers = this.duchies.slice(1).map((_, i) => i);
    const aggregator = workers.length;
    const setups: string[] = [];
    for (const [duchy] of this.duchies.entries()) {
      setups.push(
        await this.stage(
          'setup',
          duchy,
          sketches.filter((_, i) => i % workers.length === duchy),
        ),
      );
    }
    let message = await this.stage('combine', aggregator, setups);
    const round = async (worker: string, last: string) => {
      for (const duchy of workers) message = await this.stage(worker, duchy, [message]);
      message = await this.stage(last, aggregator, [message]);
    };
    if (this.isFull) {
      await round('blind', 'group');
      await round('decryptFlags', 'countRegisters');
      await round('decryptComparisons', 'countFrequencies');
    } else {
      await round('execute', 'count');
    }
  }

  /**
   * Measures the cost of each operation. Only the second call counts, because V8 compiles the code during the first.
   */
  private async measureCosts(): Promise<void> {
    await this.duchies[0]!.call('costs', null);
    this.costs = await this.duchies[0]!.call('costs', null);
  }

  /**
   * Writes one sketch per provider. Each provider shares half of its people with the next provider. The sketches are
   * encrypted in parallel, in one process per sketch.
   */
  private async sketches(people: number): Promise<string[]> {
    const providers = Array.from({ length: PROVIDERS }, (_, i) => i);
    const made = await Promise.all(
      providers.map(async (provider) => {
        const output = join(this.folder, `sketch-${provider}`);
        const worker = await startWorker<LegionsDuchy>('legionsDuchy.ts');
        const first = 1 + (provider * people) / 2;
        const { size, isFull } = this;
        const { key } = this.keys[0]!;
        const { active } = await worker.call('sketch', { size, isFull, key, first, people, output });
        await worker.stop();
        return { output, active };
      }),
    );
    this.active = made.reduce((total, { active }) => total + active, 0);
    return made.map(({ output }) => output);
  }

  private async stage(stage: string, duchy: number, inputs: string[]): Promise<string> {
    const { size, isFull } = this;
    const protocol = isFull ? 'full' : 'reach only';
    progress(`mpc: ${protocol} Liquid Legions at ${size.maxSize} registers, ${stage} of duchy ${duchy + 1}`);
    const output = join(this.folder, `${stage}-${duchy}`);
    const keys = this.keys[duchy]!;
    const times = await this.duchies[duchy]!.call('stage', { size, isFull, stage, keys, inputs, output });
    this.bytes.set(output, times.bytes);
    const operations = isFull ? frequencyOperations(size, this.active) : reachOnlyOperations(size);
    const counts = operations[stage]?.({ input: this.bytes.get(inputs[0]!) ?? 0, output: times.bytes });
    const ms = counts && yardstickMs(counts, this.costs);
    this.stages.push({ ...times, protocol, stage, duchy, yardstickMs: ms });
    return output;
  }
}

/** Prints how often one thread can run each curve operation in one second of processor time. */
async function measureCurve(quick: boolean) {
  const worker = await startWorker<LegionsDuchy>('legionsDuchy.ts');
  const count = quick ? 512 : 4096;
  await worker.call('curve', { count });
  const figures = await worker.call('curve', { count });
  await worker.stop();
  printTable(
    "Operations on P-256, per second of processor time in one thread, beside Node's OpenSSL and @noble/curves",
    figures.map(({ operation, ours, openssl, noble }) => ({
      operation,
      here: digits(ours),
      OpenSSL: digits(openssl ?? Number.NaN),
      'noble/curves': digits(noble ?? Number.NaN),
    })),
  );
  return figures;
}

export async function measureLegions({ quick }: Bench) {
  const curve = await measureCurve(quick);
  const people = quick ? 2000 : 1_000_000;
  const privacy = quick ? { epsilon: 1, delta: 1e-5 } : { epsilon: 0.1, delta: 1e-9 };
  const sizes = [
    { isFull: false, maxSize: quick ? 300 : 100_000 },
    { isFull: true, maxSize: quick ? 100 : 10_000 },
  ];
  const stages: Measured[] = [];
  const memory: { protocol: string; maxSize: number; worker: number; aggregator: number }[] = [];
  for (const { isFull, maxSize } of sizes) {
    const folder = await mkdtemp(join(tmpdir(), 'mex-bench-legions-'));
    const duchies = await Promise.all(
      Array.from({ length: DUCHIES }, () => startWorker<LegionsDuchy>('legionsDuchy.ts')),
    );
    try {
      const size = { maxSize, dataProviderCount: PROVIDERS, duchyCount: DUCHIES, privacy };
      const run = new Run(size, isFull, folder, duchies);
      await run.measure(people);
      stages.push(...run.stages);
      const peaks = await Promise.all(duchies.map((duchy) => duchy.call('peakMegabytes', null)));
      const worker = Math.max(...peaks.slice(0, -1));
      memory.push({ protocol: run.stages[0]!.protocol, maxSize, worker, aggregator: peaks.at(-1)! });
    } finally {
      await Promise.all(duchies.map((duchy) => duchy.stop()));
      await rm(folder, { recursive: true, force: true });
    }
  }
  const threads = availableParallelism();
  const ratioOf = ({ yardstickMs: ms, wallMs }: Measured) =>
    ms === undefined ? Number.NaN : ms / threads / wallMs;
  printTable(
    `Stages of Liquid Legions, ${PROVIDERS} providers of ${people} people, ${DUCHIES} duchies, ${threads} threads; beside their operations`,
    stages.map((one) => ({
      protocol: one.protocol,
      stage: one.stage,
      duchy: one.duchy + 1 === DUCHIES ? 'aggregator' : `worker ${one.duchy + 1}`,
      s: digits(one.wallMs / 1000),
      'processor s': digits(one.processorMs / 1000),
      'operations, processor s': digits((one.yardstickMs ?? Number.NaN) / 1000),
      'operations / processor': digits((one.yardstickMs ?? Number.NaN) / one.processorMs),
      'operations / threads / s': digits(ratioOf(one)),
    })),
  );
  printTable(
    'Peak memory of a process that does all stages of its duchy, MB',
    memory.map((one) => ({ ...one, worker: digits(one.worker), aggregator: digits(one.aggregator) })),
  );
  const verdicts: Verdict[] = [
    ...stages
      .filter(({ yardstickMs: ms }) => ms !== undefined && ms > COMPARED_MS)
      .map((one) =>
        atLeast(
          `${one.protocol}, ${one.stage} of duchy ${one.duchy + 1}: operations / threads / s`,
          figure([ratioOf(one)]),
          STAGE_RATIO,
        ),
      ),
    ...memory.map(({ protocol, maxSize, worker }) =>
      atMost(`peak memory of a worker, ${protocol} at ${maxSize}, MB`, figure([worker]), WORKER_MEGABYTES),
    ),
  ];
  return { curve, stages, memory, verdicts };
}
