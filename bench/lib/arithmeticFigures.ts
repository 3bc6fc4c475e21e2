/**
 * Compares the computation of a share shuffle worker and of a provider with the minimum work that any implementation
 * must do.
 */
import type { Arithmetic } from './arithmetic.ts';
import { digits, figure, ratio, show } from './figures.ts';
import type { Bench } from './options.ts';
import type { Worker } from './processes.ts';
import { atLeast, printTable, progress } from './report.ts';
import type { SharingRound, ShuffleRound } from './shareShuffle.ts';

const TYPES = ['REACH', 'REACH_AND_FREQUENCY'] as const;
const STAGE_RATIO = 0.6;
/** The maximum number of rounds for frequency vectors. It is low, because one frequency vector takes seconds. */
const MAX_ROUNDS = 3;

export async function measureArithmetic({ rounds }: Bench, worker: Worker<Arithmetic>, sizes: number[]) {
  const shuffles: { type: string; registers: number; rounds: ShuffleRound[] }[] = [];
  for (const registers of sizes) {
    for (const type of TYPES) {
      const done: ShuffleRound[] = [];
      for (let round = 0; round <= rounds; round++) {
        progress(`mpc: shuffle stage of ${registers}, ${type}, round ${round} of ${rounds}`);
        const timing = await worker.call('shuffle', { type, registers });
        if (round > 0) done.push(timing);
      }
      shuffles.push({ type, registers, rounds: done });
    }
  }
  const sharing: SharingRound[] = [];
  const registers = sizes.at(-1)!;
  for (let round = 0; round <= rounds; round++) {
    const timing = await worker.call('sharing', { registers });
    if (round > 0) sharing.push(timing);
  }
  const rows = [
    ...shuffles.map(({ type, registers, rounds }) => ({
      what: `shuffle stage, ${type}`,
      registers,
      own: rounds.map(({ stageMs }) => stageMs),
      bare: rounds.map(({ bareMs }) => bareMs),
    })),
    {
      what: 'share of a provider',
      registers,
      own: sharing.map(({ sharingMs }) => sharingMs),
      bare: sharing.map(({ bareMs }) => bareMs),
    },
  ];
  printTable(
    'Arithmetic in one thread, three providers (processor time), beside its bare keystreams and passes',
    rows.map(({ what, registers, own, bare }) => ({
      what,
      registers,
      ms: show(figure(own)),
      'bare, ms': show(figure(bare)),
      'ns per register': digits((figure(own).median * 1e6) / registers),
      'bare / own': show(ratio(bare, own)),
    })),
  );
  const verdicts = rows
    .filter(({ what }) => what.startsWith('shuffle'))
    .map(({ what, registers, own, bare }) =>
      atLeast(`${what} of ${registers}: bare / own`, ratio(bare, own), STAGE_RATIO),
    );
  return { shuffles, sharing, verdicts };
}

export interface ProviderFigures {
  people: number;
  orderMs: number;
  vectorMs: number[];
  bareMs: number[];
}

export async function measureProviders(
  { rounds }: Bench,
  worker: Worker<Arithmetic>,
  folder: string,
  files: Map<number, string[]>,
) {
  const measured: ProviderFigures[] = [];
  for (const [people, [file]] of files) {
    progress(`mpc: a provider's vector of ${people} people`);
    const ranges = [{ start: 1, end: people }];
    const orderMs = await worker.call('order', { folder, ranges });
    const found: ProviderFigures = { people, orderMs, vectorMs: [], bareMs: [] };
    for (let round = 0; round <= Math.min(rounds, MAX_ROUNDS); round++) {
      const timing = await worker.call('vector', { folder, ranges, file: file! });
      if (round === 0) continue;
      found.vectorMs.push(timing.vectorMs);
      found.bareMs.push(timing.bareMs);
    }
    measured.push(found);
  }
  printTable(
    'A provider that reached 45 % of the people: events in Parquet to a frequency vector, beside the bare query',
    measured.map(({ people, orderMs, vectorMs, bareMs }) => ({
      people,
      'order of the VIDs (once), s': digits(orderMs / 1000),
      'vector, s': show(figure(vectorMs.map(seconds))),
      'bare query, s': show(figure(bareMs.map(seconds))),
      'vector / bare': show(ratio(vectorMs, bareMs)),
    })),
  );
  return { measured, verdicts: [] };
}

const seconds = (ms: number) => ms / 1000;
