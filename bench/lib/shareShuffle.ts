/** The arithmetic of Honest Majority Share Shuffle beside what no implementation can leave out, in one thread. */
import {
  countValues,
  type Share,
  type ShareShuffleParameters,
  shareShuffleParameters,
  shuffledCount,
  shuffleStage,
} from '@measurement-exchange/duchy/internal/shareShuffle/index';
import { Keystream, newSeed, uploadChunks } from '@measurement-exchange/sdk/shareShuffle';

export interface ShareShuffleRound {
  /** A provider's share of its frequencies. */
  sharingMs: number;
  /** A worker's stage. */
  shuffleMs: number;
  /** The same keystreams, and the same number of passes over the registers, with nothing exact about them. */
  bareMs: number;
  /** bareMs / shuffleMs: 1 would be as fast as bare. */
  ratio: number;
  /** The aggregator's count of what two workers sent. */
  aggregationMs: number;
}

const PIECE = 1 << 16;
const MODULUS = 127;
const PRIVACY = { epsilon: 0.1, delta: 1e-9 };

/** One round; the first in a process is slower, because the code is compiled while it runs. */
export async function shareShuffleRound(
  measurementType: 'REACH' | 'REACH_AND_FREQUENCY',
  registerCount: number,
  dataProviderCount: number,
): Promise<ShareShuffleRound> {
  const common = {
    registerCount,
    dataProviderCount,
    ringModulus: MODULUS,
    noiseMechanism: 'DISCRETE_GAUSSIAN' as const,
  };
  const parameters = shareShuffleParameters(
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
  const frequencies = Uint8Array.from({ length: registerCount }, (_, i) => (i % 10 === 0 ? 1 : 0));
  const seeds = Array.from({ length: dataProviderCount }, newSeed);
  const sharing = performance.now();
  const uploads = seeds.map((seed) => [...uploadChunks(frequencies, seed, MODULUS)]);
  const sharingMs = (performance.now() - sharing) / dataProviderCount;
  const commonSeed = newSeed();
  const outputs: Uint8Array[] = [];
  let shuffleMs = 0;
  for (const role of ['FIRST_WORKER', 'SECOND_WORKER'] as const) {
    const shares = seeds.map((seed, i): Share => {
      const uploaded = (i % 2 === 0) === (role === 'FIRST_WORKER');
      return uploaded ? { upload: inOrder(uploads[i]!) } : { seed };
    });
    const started = performance.now();
    outputs.push(await shuffleStage({ parameters, role, shares, commonSeed, noiseSeed: newSeed() }));
    shuffleMs += (performance.now() - started) / 2;
  }
  const bareMs = bare(parameters, dataProviderCount / 2, dataProviderCount / 2);
  const aggregation = performance.now();
  await countValues(parameters, [inOrder([outputs[0]!]), inOrder([outputs[1]!])]);
  const aggregationMs = performance.now() - aggregation;
  return { sharingMs, shuffleMs, bareMs, ratio: bareMs / shuffleMs, aggregationMs };
}

async function* inOrder(chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** How long the keystreams take, and the passes: one for each share, one for the factors of a reach, one of swaps. */
function bare(parameters: ShareShuffleParameters, seeds: number, uploads: number): number {
  const { registerCount, noiseRegisterCount, measurementType } = parameters;
  const values = new Uint8Array(shuffledCount(parameters));
  const keystream = new Keystream(newSeed());
  const piece = new Uint8Array(PIECE);
  const started = performance.now();
  const drawn = seeds + (measurementType === 'REACH' ? 1 : 0);
  pass(Math.round(drawn * registerCount), (at, count) => addAll(values, at, keystream.bytes(count)));
  pass(Math.round(uploads * registerCount), (at, count) => addAll(values, at, piece.subarray(0, count)));
  pass(2 * noiseRegisterCount, (at, count) => addAll(values, at, keystream.bytes(count)));
  for (let from = 0; from < values.length; from += PIECE / 16) {
    swapSome(values, from, keystream.bytes(PIECE));
  }
  return performance.now() - started;

  function pass(total: number, use: (at: number, count: number) => void): void {
    for (let at = 0; at < total; at += PIECE) {
      use(at % registerCount, Math.min(PIECE, total - at, registerCount - (at % registerCount)));
    }
  }
}

function addAll(values: Uint8Array, at: number, others: Uint8Array): void {
  for (let i = 0; i < others.length; i++) values[at + i]! += others[i]!;
}

function swapSome(values: Uint8Array, from: number, random: Uint8Array): void {
  const words = new Uint32Array(random.buffer, random.byteOffset, random.length >>> 2);
  const count = Math.min(words.length >>> 2, values.length - from);
  for (let i = 0; i < count; i++) {
    const place = from + i + Math.floor((words[4 * i]! * (values.length - from - i)) / 2 ** 32);
    const value = values[from + i]!;
    values[from + i] = values[place]!;
    values[place] = value;
  }
}
