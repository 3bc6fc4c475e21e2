/**
 * Runs the share shuffle protocol with the product's code. A test can replace the first worker with an adversary, and
 * can give providers any data.
 */

import { countValues } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/aggregate';
import {
  type Share,
  shuffleStage,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';
import {
  estimate,
  type ShareShuffleEstimate,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/estimate';
import {
  type ShareShuffleParameters,
  type ShareShuffleSpec,
  shareShuffleParameters,
  shuffledCount,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import { noiseRegisters } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/noiseRegisters';
import { uploadChunks } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
import {
  combineSeeds,
  Keystream,
  NonZeroValues,
  SEED_BYTES,
  UniformValues,
  valuesPrefix,
} from '@measurement-exchange/mpc/shares';
import { shuffle } from '@measurement-exchange/mpc/shares/permutation';
import { type Dice, inChunks, type World } from '@measurement-exchange/testkit/mpc/world';

export interface Played {
  parameters: ShareShuffleParameters;
  /**
   * The number of registers with each value, as the aggregator counts them. The counts do not reveal which register has
   * which value.
   */
  counts: Float64Array;
  /** The consumer's figures; undefined if the computation failed. */
  figures: ShareShuffleEstimate | undefined;
  /** The noise that the first worker knows: its own noise registers. */
  ownNoise: Uint8Array;
}

/** The data that a lying first worker uses, and the message that an honest worker would send. */
export interface WorkerView {
  parameters: ShareShuffleParameters;
  commonSeed: Uint8Array;
  ownNoise: Uint8Array;
  honest: Uint8Array;
}

/**
 * Runs one computation. A lying provider's vector may have any values below the modulus. The first worker sends the
 * return value of `lyingWorker`.
 */
export async function play(
  spec: World['spec'],
  vectors: Uint8Array[],
  dice: Dice,
  lyingWorker: (view: WorkerView) => Uint8Array = ({ honest }) => honest,
): Promise<Played> {
  const parameters = shareShuffleParameters({
    ...spec,
    dataProviderCount: vectors.length,
    registerCount: vectors[0]!.length,
  } as ShareShuffleSpec);
  const shares = vectors.map((vector) => {
    const seed = dice.seed();
    return { seed, bytes: Buffer.concat([...uploadChunks(vector, seed, spec.ringModulus)]) };
  });
  const commonSeed = combineSeeds(dice.seed(), dice.seed());
  const noiseSeeds = [dice.seed(), dice.seed()];
  const send = (role: 'FIRST_WORKER' | 'SECOND_WORKER', noiseSeed: Uint8Array) => {
    // Providers upload to the two workers alternately, and each upload's seed goes to the other worker.
    const own = shares.map(({ seed, bytes }, i): Share => {
      const isUploaded = (i % 2 === 0) === (role === 'FIRST_WORKER');
      return isUploaded ? { upload: inChunks(bytes, bytes.length) } : { seed };
    });
    return shuffleStage({ parameters, role, shares: own, commonSeed, noiseSeed });
  };
  const ownNoise = noiseRegisters(parameters, noiseSeeds[0]!);
  const honest = await send('FIRST_WORKER', noiseSeeds[0]!);
  const first = lyingWorker({ parameters, commonSeed, ownNoise, honest });
  const second = await send('SECOND_WORKER', noiseSeeds[1]!);
  const inputs = [inChunks(first, first.length), inChunks(second, second.length)] as const;
  const counts = await countValues(parameters, inputs);
  const input = { counts, width: 1, noiseSeed: dice.seed() };
  return { parameters, counts, figures: figuresOf(() => estimate(parameters, input)), ownNoise };
}

function figuresOf(estimated: () => ShareShuffleEstimate): ShareShuffleEstimate | undefined {
  try {
    return estimated();
  } catch {
    return undefined;
  }
}

/** Returns the number of people at one frequency, computed from the consumer's figures. */
export function peopleAt(
  frequency: number,
  { reach, relativeFrequencyDistribution }: ShareShuffleEstimate,
): number {
  return reach * (relativeFrequencyDistribution!.get(frequency) ?? 0);
}

/**
 * Returns the message of a first worker that removes the noise of both workers. The worker knows the shuffle, so it
 * knows the positions of all noise registers. It sets its own noise registers to the average noise of both workers,
 * because the aggregator subtracts this average. It changes the other worker's noise registers so that they no longer
 * affect the result. In a reach measurement, it moves those registers away from 0. In a frequency measurement, it moves
 * them to values that are not counted.
 */
export function withoutNoise(view: WorkerView): Uint8Array {
  const { parameters, ownNoise } = view;
  const { modulus, registerCount, noiseRegisterCount, measurementType } = parameters;
  const added = new Uint8Array(shuffledCount(parameters));
  const own = measurementType === 'REACH' ? ownNoise.map(() => 0) : expectedRegisters(parameters);
  for (let i = 0; i < noiseRegisterCount; i++) {
    added[registerCount + i] = (own[i]! + modulus - ownNoise[i]!) % modulus;
    added[registerCount + noiseRegisterCount + i] =
      measurementType === 'REACH' ? 1 : (modulus + (modulus >> 1) - likelyValue(parameters, i)) % modulus;
  }
  return withAdded(view, added);
}

/**
 * Returns noise registers that contain each counted value exactly as often as the aggregator expects from the noise of
 * both workers. The remaining registers have the marker value.
 */
function expectedRegisters({
  modulus,
  maximumFrequency,
  reachNoise,
  frequencyNoise,
  noiseRegisterCount,
}: ShareShuffleParameters): Uint8Array {
  const registers = new Uint8Array(noiseRegisterCount).fill(modulus - 1);
  let at = 0;
  for (let value = 0; value < maximumFrequency; value++) {
    const count = 2 * (value === 0 ? reachNoise : frequencyNoise).offset;
    registers.fill(value, at, at + count);
    at += count;
  }
  return registers;
}

/**
 * Returns the likely value of the noise register at index `at`. The noise registers are sorted by value. On average,
 * the number of noise registers with a given value equals the offset of the noise for that value.
 */
function likelyValue({ modulus, reachNoise, frequencyNoise }: ShareShuffleParameters, at: number): number {
  if (at < reachNoise.offset) return 0;
  return Math.min(modulus - 1, 1 + Math.floor((at - reachNoise.offset) / frequencyNoise.offset));
}

/** Returns the honest message with `added` added to its registers. `added` is in the order before the shuffle. */
export function withAdded({ parameters, commonSeed, honest }: WorkerView, added: Uint8Array): Uint8Array {
  const { measurementType, modulus, registerCount, noiseRegisterCount } = parameters;
  const keystream = new Keystream(commonSeed);
  if (measurementType === 'REACH') {
    new NonZeroValues(keystream, modulus, registerCount).fill(new Uint8Array(registerCount));
  }
  for (let worker = 0; worker < 2; worker++) {
    new UniformValues(keystream, modulus, noiseRegisterCount).fill(new Uint8Array(noiseRegisterCount));
  }
  const shuffled = added.slice();
  shuffle(shuffled, keystream.bytes(SEED_BYTES));
  const start = valuesPrefix(added.length).length;
  const message = honest.slice();
  for (const [i, value] of shuffled.entries()) message[start + i] = (message[start + i]! + value) % modulus;
  return message;
}
