/**
 * Defines small worlds of providers and people, and runs the whole share shuffle protocol on them. truth.ts computes
 * the true figures of a world.
 */
import { createHash } from 'node:crypto';
import type { VidRange } from '@measurement-exchange/contract';
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
  type ShareShuffleSpec,
  shareShuffleParameters,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import {
  FrequencyVector,
  uploadChunks,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
import { combineSeeds, Keystream, orderVids, VidIndex } from '@measurement-exchange/mpc/shares';

/** A random generator that draws the same numbers in every run. */
export class Dice {
  private readonly keystream: Keystream;
  private drawn = new Uint32Array(0);
  private used = 0;

  constructor(name: string) {
    this.keystream = new Keystream(createHash('sha384').update(name).digest());
  }

  seed(): Uint8Array<ArrayBuffer> {
    return this.keystream.bytes(48);
  }

  /** Returns an integer from 0 to n − 1. The distribution is slightly uneven, which does not matter for tests. */
  below(n: number): number {
    if (this.used === this.drawn.length) {
      this.drawn = new Uint32Array(this.keystream.bytes(4096).buffer);
      this.used = 0;
    }
    return this.drawn[this.used++]! % n;
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

/** Applies `Omit` to each member of a union. `World` omits the spec fields that its own fields determine. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export interface World {
  ranges: VidRange[];
  interval: { start: number; width: number };
  /** The number of events of each VID, for each provider. */
  events: Map<number, number>[];
  spec: DistributiveOmit<ShareShuffleSpec, 'dataProviderCount' | 'registerCount'>;
}

export function vidsOf(ranges: VidRange[]): number[] {
  return ranges.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, i) => start + i));
}

/** Makes the uploads of all providers, each with its seed. Also returns the number of registers. */
export function upload(world: World, dice: Dice) {
  const index = new VidIndex(world.ranges, orderVids(world.ranges));
  const cap = world.spec.measurementType === 'REACH' ? 1 : world.spec.maximumFrequency;
  let registerCount = 0;
  const shares = world.events.map((events) => {
    const vector = new FrequencyVector(index, world.interval, cap);
    for (const [vid, times] of events) vector.add(vid, times);
    registerCount = vector.frequencies.length;
    const seed = dice.seed();
    return {
      seed,
      bytes: Buffer.concat([...uploadChunks(vector.frequencies, seed, world.spec.ringModulus)]),
    };
  });
  return { shares, registerCount };
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Runs the steps of all parties one after the other. */
export async function run(
  world: World,
  dice: Dice,
  { shares, registerCount } = upload(world, dice),
): Promise<ShareShuffleEstimate> {
  const parameters = shareShuffleParameters({
    ...world.spec,
    dataProviderCount: world.events.length,
    registerCount,
  } as ShareShuffleSpec);
  const commonSeed = combineSeeds(dice.seed(), dice.seed());
  const atFirst = shares.map(() => dice.below(2) === 0);
  const outputs = [];
  for (const role of ['FIRST_WORKER', 'SECOND_WORKER'] as const) {
    const own = shares.map(({ seed, bytes }, i): Share => {
      const uploaded = atFirst[i] === (role === 'FIRST_WORKER');
      return uploaded ? { upload: inChunks(bytes, dice.between(1, 100)) } : { seed };
    });
    outputs.push(await shuffleStage({ parameters, role, shares: own, commonSeed, noiseSeed: dice.seed() }));
  }
  const counts = await countValues(parameters, [
    inChunks(outputs[0]!, dice.between(100, 1000)),
    inChunks(outputs[1]!, dice.between(100, 1000)),
  ]);
  return estimate(parameters, { counts, width: world.interval.width, noiseSeed: dice.seed() });
}
