/** The arithmetic of Honest Majority Share Shuffle beside what no implementation can leave out, in one thread. */
import {
  countValues,
  type Share,
  type ShareShuffleParameters,
  shareShuffleParameters,
  shuffledCount,
  shuffleStage,
} from '@measurement-exchange/duchy/internal/shareShuffle/index';
import { Keystream, newSeed, uploadChunks, wordsOf } from '@measurement-exchange/sdk/shareShuffle';

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
  const values = new Uint8Array(Math.ceil(shuffledCount(parameters) / 4) * 4);
  const keystream = new Keystream(newSeed());
  const piece = new Uint8Array(PIECE);
  const places = new Uint32Array(PIECE / 16);
  const started = performance.now();
  const drawn = seeds + (measurementType === 'REACH' ? 1 : 0);
  pass(drawn * registerCount + 2 * noiseRegisterCount, () => keystream.bytes(PIECE));
  pass(uploads * registerCount, () => piece);
  for (let from = 0; from < values.length; from += places.length) {
    const count = Math.min(places.length, values.length - from);
    somePlaces(wordsOf(keystream.bytes(PIECE)), from, values.length, places);
    swapAll(values, from, places, count);
  }
  return performance.now() - started;

  /** Over the vector as often as it takes to add so many bytes. */
  function pass(total: number, next: () => Uint8Array): void {
    const words = wordsOf(values);
    const pieces = Math.max(1, Math.floor(values.length / PIECE));
    for (let i = 0; i * PIECE < total; i++) {
      const others = wordsOf(next());
      addAll(words, (i % pieces) * others.length, others, Math.min(others.length, words.length));
    }
  }
}

function addAll(words: Uint32Array, at: number, others: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) words[at + i]! += others[i]!;
}

function somePlaces(words: Uint32Array, from: number, total: number, places: Uint32Array): void {
  for (let i = 0; i < places.length; i++) {
    places[i] = from + i + Math.floor((words[4 * i]! * (total - from - i)) / 2 ** 32);
  }
}

function swapAll(values: Uint8Array, from: number, places: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const place = places[i]!;
    const value = values[from + i]!;
    values[from + i] = values[place]!;
    values[place] = value;
  }
}
