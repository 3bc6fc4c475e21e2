/**
 * A worker's part of the protocol. The worker adds up its shares from all providers, multiplies the sums by random
 * factors (for reach only), appends noise registers, and shuffles all registers. The other worker does the same with
 * the other shares. Adding the registers of both workers gives the frequencies of all people and the noise, in random
 * order. For reach, each sum shows only whether a person was reached.
 */
import { readValues } from '../../shares/framing.ts';
import { shuffle } from '../../shares/permutation.ts';
import {
  addWords,
  Keystream,
  MAX_MODULUS,
  NonZeroValues,
  productTable,
  type RingValues,
  registerCountSuffix,
  SEED_BYTES,
  subtractWords,
  UniformValues,
  valuesPrefix,
  wordAligned,
  wordsOf,
} from '../../shares.ts';
import { type ShareShuffleParameters, shuffledCount } from './limits.ts';
import { noiseRegisters } from './noiseRegisters.ts';

/** A share: either a provider's upload, in chunks of any size, or the seed that expands to the share. */
export type Share = { upload: AsyncIterable<Uint8Array> } | { seed: Uint8Array };

export interface ShuffleInput {
  parameters: ShareShuffleParameters;
  role: 'FIRST_WORKER' | 'SECOND_WORKER';
  shares: Share[];
  /** The seed that both workers share: the result of `combineSeeds` on the contributions of both workers. */
  commonSeed: Uint8Array;
  /**
   * A seed that only this worker knows. The caller stores it before the stage runs, so that a retry uses the same seed.
   */
  noiseSeed: Uint8Array;
}

/** The number of values to process at once, chosen to fit in the processor's caches. */
const PIECE = 1 << 16;
/** The number of bytes reserved before the values in the message. A multiple of 4 keeps the values word-aligned. */
const PREFIX_ROOM = 8;
const SUFFIX_ROOM = 8;

/** Runs the worker's stage. Resolves to an encoded `AggregationPhaseInput` message. */
export async function shuffleStage(input: ShuffleInput): Promise<Uint8Array<ArrayBuffer>> {
  const { parameters, shares } = input;
  const { registerCount, modulus, noiseRegisterCount } = parameters;
  const count = shuffledCount(parameters);
  const message = wordAligned(PREFIX_ROOM + count + SUFFIX_ROOM);
  const values = message.subarray(PREFIX_ROOM, PREFIX_ROOM + count);
  const registers = values.subarray(0, registerCount);

  const sum = new RegisterSum(modulus, registers);
  for (const share of shares) {
    if ('seed' in share) addExpanded(sum, parameters, share.seed);
    else await addUpload(sum, parameters, share.upload);
  }
  const keystream = new Keystream(input.commonSeed);
  if (parameters.measurementType === 'REACH') {
    multiplyAll(modulus, registers, new NonZeroValues(keystream, modulus, registerCount));
  }
  if (noiseRegisterCount > 0) {
    const noise = noiseRegisters(parameters, input.noiseSeed);
    shareNoise(modulus, input.role, noise, keystream, values.subarray(registerCount));
  }
  shuffle(values, keystream.bytes(SEED_BYTES));

  const prefix = valuesPrefix(count);
  const suffix = registerCountSuffix(registerCount);
  message.set(prefix, PREFIX_ROOM - prefix.length);
  message.set(suffix, PREFIX_ROOM + count);
  return message.subarray(PREFIX_ROOM - prefix.length, PREFIX_ROOM + count + suffix.length);
}

class RegisterSum {
  private readonly modulus: number;
  private readonly words: Uint32Array;
  private readonly piece: Uint8Array;
  private readonly pieceWords: Uint32Array;

  constructor(modulus: number, registers: Uint8Array) {
    this.modulus = modulus;
    this.words = wordsOf(registers);
    this.piece = wordAligned(Math.min(PIECE, registers.length + 4));
    this.pieceWords = wordsOf(this.piece);
  }

  /**
   * Adds values to the registers starting at index `at`. `at` must be a multiple of 4, and `values` must be
   * word-aligned. Sets the unused bytes of the last word of `values` to 0.
   */
  addAligned(at: number, values: Uint8Array): void {
    const words = wordsOf(values);
    new Uint8Array(values.buffer, values.byteOffset, 4 * words.length).fill(0, values.length);
    addWords(this.modulus, this.words, at >>> 2, words, words.length);
  }

  add(at: number, values: Uint8Array): void {
    for (let done = 0; done < values.length; ) {
      // The first and last words may contain registers outside the range to add to. Add zeros to these registers.
      const lead = (at + done) & 3;
      const part = values.subarray(done, done + this.piece.length - lead);
      const end = lead + part.length;
      const wordCount = (end + 3) >>> 2;
      this.piece.fill(0, 0, lead);
      this.piece.set(part, lead);
      this.piece.fill(0, end, wordCount * 4);
      addWords(this.modulus, this.words, (at + done - lead) >>> 2, this.pieceWords, wordCount);
      done += part.length;
    }
  }
}

function addExpanded(sum: RegisterSum, parameters: ShareShuffleParameters, seed: Uint8Array): void {
  const { modulus, registerCount } = parameters;
  const expanded = new UniformValues(new Keystream(seed), modulus, registerCount);
  inPieces(registerCount, expanded, (at, values) => sum.addAligned(at, values));
}

async function addUpload(
  sum: RegisterSum,
  { modulus, registerCount }: ShareShuffleParameters,
  upload: AsyncIterable<Uint8Array>,
): Promise<void> {
  const add = (at: number, values: Uint8Array) => sum.add(at, values);
  const { count } = await readValues(modulus, registerCount, upload, add);
  if (count !== registerCount)
    throw new RangeError(`data must hold ${registerCount} values, and holds ${count}`);
}

/**
 * Multiplies each sum by a random nonzero factor, which hides how many providers reached a person. Zero remains zero.
 */
function multiplyAll(modulus: number, registers: Uint8Array, factors: RingValues): void {
  const table = productTable(modulus);
  inPieces(registers.length, factors, (at, values) => multiply(table, registers, at, values));
}

function multiply(table: Uint8Array, registers: Uint8Array, at: number, factors: Uint8Array): void {
  const words = wordsOf(registers.subarray(at, at + factors.length));
  const others = wordsOf(factors);
  const whole = factors.length >>> 2;
  for (let i = 0; i < whole; i++) {
    const word = words[i]!;
    const other = others[i]!;
    words[i] =
      table[((word & 0x7f) << 7) | (other & 0x7f)]! |
      (table[((word >>> 1) & 0x3f80) | ((other >>> 8) & 0x7f)]! << 8) |
      (table[((word >>> 9) & 0x3f80) | ((other >>> 16) & 0x7f)]! << 16) |
      (table[((word >>> 17) & 0x3f80) | (other >>> 24)]! << 24);
  }
  for (let i = whole << 2; i < factors.length; i++) {
    registers[at + i] = table[registers[at + i]! * MAX_MODULUS + factors[i]!]!;
  }
}

/**
 * Appends this worker's shares of both workers' noise. The share of the other worker's noise is drawn from the common
 * keystream. The share of this worker's own noise is the noise minus the values that the other worker draws.
 */
function shareNoise(
  modulus: number,
  role: ShuffleInput['role'],
  noise: Uint8Array,
  keystream: Keystream,
  appended: Uint8Array,
): void {
  for (const owner of ['FIRST_WORKER', 'SECOND_WORKER'] as const) {
    const random = wordAligned(noise.length);
    new UniformValues(keystream, modulus, noise.length).fill(random);
    if (owner === role) subtractWords(modulus, wordsOf(noise), 0, wordsOf(random), wordsOf(noise).length);
    appended.set(owner === role ? noise : random, owner === 'FIRST_WORKER' ? 0 : noise.length);
  }
}

function inPieces(count: number, source: RingValues, use: (at: number, values: Uint8Array) => void): void {
  const piece = wordAligned(Math.min(PIECE, count));
  for (let at = 0; at < count; at += PIECE) {
    const values = piece.subarray(0, count - at);
    source.fill(values);
    use(at, values);
  }
}
