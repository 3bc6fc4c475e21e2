/** Sketches of a few providers, and a ring of duchies that each hold a key. */

import {
  NOISE_KINDS,
  NOISE_REGISTER_BYTES,
  type NoiseKind,
} from '@measurement-exchange/mpc/protocols/liquidLegions/noiseRegisters';
import { type RingKeys, ringKeys } from '@measurement-exchange/mpc/protocols/liquidLegions/ringKeys';
import { FrequencySketch } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
import { ReachSketch } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
import {
  Curve,
  DESTROYED,
  type ElGamalKeyPair,
  ElGamalPublicKey,
  type FrequencySketchParams,
  Keystream,
  type LiquidLegionsParams,
  newKeyPair,
  SketchEncrypter,
} from '@measurement-exchange/mpc/sketches';
import { rounds } from '../rounds.ts';
import { InProcess } from './inProcess.ts';
import { Dice } from './world.ts';

/** The number of events of each VID. */
export type Events = Map<number, number>;

/** A ring of duchies, and their keys. The workers are in the order of the ring, and the aggregator is last. */
export class Ring {
  readonly curve = new Curve(512);
  readonly duchies: ElGamalKeyPair[];
  /** The keys that each duchy holds. */
  readonly keys: RingKeys[];
  private readonly encrypter: SketchEncrypter;

  constructor(dice: Dice, size: number) {
    const random = new Keystream(dice.seed());
    this.duchies = Array.from({ length: size }, () => newKeyPair(random));
    const publicKeys = this.duchies.map(({ publicKey }) => publicKey);
    this.keys = this.duchies.map(({ secretKey }, place) => ringKeys(secretKey, publicKeys, place));
    const key = new ElGamalPublicKey(this.curve, this.keys[0]!.key);
    this.encrypter = new SketchEncrypter(this.curve, key, random);
  }

  encryptReach(sketch: ReachSketch): Uint8Array {
    return Buffer.concat([...this.encrypter.reach(sketch)]);
  }

  encryptFrequency(sketch: FrequencySketch, maximumFrequency: number): Uint8Array {
    return Buffer.concat([...this.encrypter.frequency(sketch, maximumFrequency)]);
  }
}

export function reachSketch(params: LiquidLegionsParams, events: Events): ReachSketch {
  const sketch = new ReachSketch(params);
  for (const [vid, times] of events) if (times > 0) sketch.add(vid);
  return sketch;
}

export function frequencySketch(params: FrequencySketchParams, events: Events): FrequencySketch {
  const sketch = new FrequencySketch(params);
  for (const [vid, times] of events) sketch.add(vid, times);
  return sketch;
}

/**
 * Counts registers in the union of the sketches. `registers` counts all registers that contain people. `frequencies`
 * counts, for each frequency, only the registers in which all people have the same sampling indicator. Its last entry
 * is for the maximum frequency and above.
 */
export function unionOf(
  spec: FrequencySketchParams & { maximumFrequency: number },
  events: Events[],
): { registers: number; frequencies: number[] } {
  const sketches = events.map((one) => frequencySketch(spec, one));
  const frequencies: number[] = Array(spec.maximumFrequency).fill(0);
  let registers = 0;
  for (let index = 0; index < spec.maxSize; index++) {
    const active = sketches.filter((sketch) => sketch.frequencies[index]! > 0);
    if (active.length === 0) continue;
    registers++;
    const found = new Set(active.map((sketch) => sketch.keys[index]!));
    if (found.size > 1 || found.has(DESTROYED)) continue;
    const sum = active.reduce((total, sketch) => total + sketch.frequencies[index]!, 0);
    frequencies[Math.min(sum, spec.maximumFrequency) - 1]!++;
  }
  return { registers, frequencies };
}

/**
 * The number of random worlds (see `randomWorld`) to test, and the approximate maximum number of registers of a sketch.
 */
export const WORLDS = rounds(300, 1);
const MOST_REGISTERS = WORLDS > 1 ? 2000 : 60;

/**
 * Returns a random world: the size of sketches, and the events of one to five providers that share some people. A
 * provider may have no people. Small sketches are more frequent than large ones.
 */
export function randomWorld(dice: Dice): { maxSize: number; events: Events[] } {
  const maxSize = 2 + Math.round(MOST_REGISTERS ** ((dice.between(0, 1000) / 1000) ** 2));
  const people = Math.ceil(maxSize * dice.oneOf([0.2, 0.5, 2]));
  const events = Array.from({ length: dice.between(1, 5) }, () => {
    const many = dice.oneOf([0, 1, people, dice.between(0, people)]);
    return new Map(
      Array.from({ length: many }, () => [dice.between(1, 2 * people), dice.oneOf([1, 1, 2, 3, 100])]),
    );
  });
  return { maxSize, events };
}

/** Counts the noise registers of this kind. */
export function noiseCount(drawn: Uint8Array[], kind: NoiseKind): number {
  const registers = Buffer.concat(drawn);
  let count = 0;
  for (let at = 0; at < registers.length; at += NOISE_REGISTER_BYTES) {
    if (NOISE_KINDS[registers[at]!] === kind) count++;
  }
  return count;
}

/** A ring of two workers and an aggregator. `name` seeds the random numbers. */
export function ringOfThree(name: string) {
  const dice = new Dice(name);
  const ring = new Ring(dice, 3);
  const [first, second, aggregator] = ring.keys as [RingKeys, RingKeys, RingKeys];
  return { dice, ring, first, second, aggregator, pool: new InProcess() };
}

/** Splits bytes into blocks of `size` bytes, and returns the blocks in hexadecimal. */
export function hexBlocks(bytes: Uint8Array, size: number): string[] {
  return Array.from({ length: bytes.length / size }, (_, i) =>
    Buffer.from(bytes.subarray(i * size, (i + 1) * size)).toString('hex'),
  );
}
