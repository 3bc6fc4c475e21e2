/**
 * Compares the arithmetic of Honest Majority Share Shuffle with the minimum work of any implementation, in one thread.
 */
import {
  type Share,
  shuffleStage,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';
import {
  type ShareShuffleParameters,
  shareShuffleParameters,
  shuffledCount,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import { uploadChunks } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
import { Keystream, newSeed, wordsOf } from '@measurement-exchange/mpc/shares';
import { swapAll } from '@measurement-exchange/mpc/shares/permutation';

export type MeasurementType = 'REACH' | 'REACH_AND_FREQUENCY';

/**
 * Times are milliseconds of processor time in this thread, so that other programs on the machine have little effect.
 */
export interface ShuffleRound {
  /** The shuffle stage, as a worker runs it. */
  stageMs: number;
  /** The yardstick: the same number of keystreams and passes over the registers. Its results are not correct. */
  bareMs: number;
}

const PIECE = 1 << 16;
const MODULUS = 127;
const PRIVACY = { epsilon: 0.1, delta: 1e-9 };
const DATA_PROVIDERS = 3;
/**
 * The number of registers to process in a round of the shuffle. A round of sharing processes four times as many. Both
 * kinds of rounds then take much longer than one step (a few milliseconds) of the processor-time clock. A short vector
 * is repeated at most 20 times, so its round is shorter.
 */
const ROUND_REGISTERS = 8_000_000;

/**
 * Runs one round of the measurement. The first round in a process is slower, because V8 compiles the code while it
 * runs.
 */
export async function shuffleRound(
  measurementType: MeasurementType,
  registerCount: number,
): Promise<ShuffleRound> {
  const parameters = parametersOf(measurementType, registerCount);
  const frequencies = Uint8Array.from({ length: registerCount }, (_, i) => (i % 10 === 0 ? 1 : 0));
  const seeds = Array.from({ length: DATA_PROVIDERS }, newSeed);
  const uploads = seeds.map((seed) => [...uploadChunks(frequencies, seed, MODULUS)]);
  const commonSeed = newSeed();
  const repeats = Math.min(20, Math.ceil(ROUND_REGISTERS / registerCount / 2));
  const round = { stageMs: 0, bareMs: 0 };
  for (let i = 0; i < repeats; i++) {
    for (const role of ['FIRST_WORKER', 'SECOND_WORKER'] as const) {
      const shares = seeds.map((seed, j): Share => {
        const uploaded = (j % 2 === 0) === (role === 'FIRST_WORKER');
        return uploaded ? { upload: inOrder(uploads[j]!) } : { seed };
      });
      const uploaded = shares.filter((share) => 'upload' in share).length;
      round.stageMs += await timed(() =>
        shuffleStage({ parameters, role, shares, commonSeed, noiseSeed: newSeed() }),
      );
      round.bareMs += await timed(() => bare(parameters, DATA_PROVIDERS - uploaded, uploaded));
    }
  }
  return { stageMs: round.stageMs / repeats / 2, bareMs: round.bareMs / repeats / 2 };
}

export interface SharingRound {
  /** The time to make the share that a provider uploads. */
  sharingMs: number;
  /** The yardstick: the keystream of the share that is not uploaded, and one pass over the registers. */
  bareMs: number;
}

export async function sharingRound(registerCount: number): Promise<SharingRound> {
  const frequencies = Uint8Array.from({ length: registerCount }, (_, i) => (i % 10 === 0 ? 1 : 0));
  const repeats = Math.min(20, Math.ceil((4 * ROUND_REGISTERS) / registerCount));
  const round = { sharingMs: 0, bareMs: 0 };
  for (let i = 0; i < repeats; i++) {
    round.sharingMs += await timed(() => {
      for (const _ of uploadChunks(frequencies, newSeed(), MODULUS));
    });
    round.bareMs += await timed(() =>
      addPieces(new Uint8Array(Math.ceil(registerCount / 4) * 4), registerCount, keystreamOf(newSeed())),
    );
  }
  return { sharingMs: round.sharingMs / repeats, bareMs: round.bareMs / repeats };
}

function parametersOf(measurementType: MeasurementType, registerCount: number): ShareShuffleParameters {
  const common = {
    registerCount,
    dataProviderCount: DATA_PROVIDERS,
    ringModulus: MODULUS,
    noiseMechanism: 'DISCRETE_GAUSSIAN' as const,
  };
  return shareShuffleParameters(
    measurementType === 'REACH'
      ? { ...common, measurementType, privacyParams: PRIVACY }
      : {
          ...common,
          measurementType,
          maximumFrequency: 10,
          reachPrivacyParams: PRIVACY,
          frequencyPrivacyParams: PRIVACY,
        },
  );
}

async function timed(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

async function* inOrder(chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/**
 * Runs the yardstick: the keystreams, one pass per share, one pass for the random factors of a reach measurement, and
 * one pass of swaps.
 */
function bare(parameters: ShareShuffleParameters, seeds: number, uploads: number): void {
  const { registerCount, noiseRegisterCount, measurementType } = parameters;
  const values = new Uint8Array(Math.ceil(shuffledCount(parameters) / 4) * 4);
  const next = keystreamOf(newSeed());
  const piece = new Uint8Array(PIECE);
  const places = new Uint32Array(PIECE / 16);
  const drawn = seeds + (measurementType === 'REACH' ? 1 : 0);
  addPieces(values, drawn * registerCount + 2 * noiseRegisterCount, next);
  addPieces(values, uploads * registerCount, () => piece);
  for (let from = 0; from < values.length; from += places.length) {
    swapSome(values, from, wordsOf(next()), places);
  }
}

function keystreamOf(seed: Uint8Array): () => Uint8Array {
  const keystream = new Keystream(seed);
  return () => keystream.bytes(PIECE);
}

/**
 * Adds pieces to the vector, until the pieces have `total` bytes in all. After the end of the vector, continues at its
 * start.
 */
function addPieces(values: Uint8Array, total: number, next: () => Uint8Array): void {
  const words = wordsOf(values);
  const pieces = Math.max(1, Math.floor(values.length / PIECE));
  for (let i = 0; i * PIECE < total; i++) {
    const others = wordsOf(next());
    addAll(words, (i % pieces) * others.length, others, Math.min(others.length, words.length));
  }
}

function addAll(words: Uint32Array, at: number, others: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) words[at + i]! += others[i]!;
}

/**
 * Starting at `from`, swaps each value with the value at a random position. This position is the position of the value
 * itself or a later one. The positions are approximately uniform. Swaps as many values per call as the product does.
 */
function swapSome(values: Uint8Array, from: number, words: Uint32Array, places: Uint32Array): void {
  const total = values.length;
  const count = Math.min(places.length, total - from);
  for (let i = 0; i < count; i++) {
    places[i] = from + i + Math.floor((words[4 * i]! * (total - from - i)) / 2 ** 32);
  }
  swapAll(values, from, places, count);
}
