/** Sketches of a few providers, and a ring of duchies that hold a key each. */
import {
  CIPHERTEXT_BYTES,
  Ciphertexts,
  Curve,
  drawScalars,
  type ElGamalKeyPair,
  ElGamalPublicKey,
  FrequencySketch,
  type FrequencySketchParams,
  Keystream,
  type LiquidLegionsParams,
  mapToCurve,
  NOBODY_INDEX,
  newKeyPair,
  ReachSketch,
  SketchEncrypter,
} from '@measurement-exchange/sdk/liquidLegions';
import { type RingKeys, ringKeys } from '../../src/liquidLegions/index.ts';
import type { Dice } from '../shareShuffle/world.ts';

/** Events by VID. */
export type Events = Map<number, number>;

/** Workers in the order of the ring, then the aggregator. */
export class Ring {
  readonly curve = new Curve(512);
  readonly duchies: ElGamalKeyPair[];
  /** As each duchy has them. */
  readonly keys: RingKeys[];
  private readonly key: ElGamalPublicKey;
  private readonly encrypter: SketchEncrypter;
  private readonly batch = new Ciphertexts(this.curve);
  private readonly random: Keystream;

  constructor(dice: Dice, size: number) {
    this.random = new Keystream(dice.seed());
    this.duchies = Array.from({ length: size }, () => newKeyPair(this.random));
    const publicKeys = this.duchies.map(({ publicKey }) => publicKey);
    this.keys = this.duchies.map(({ secretKey }, place) => ringKeys(secretKey, publicKeys, place));
    this.key = new ElGamalPublicKey(this.curve, this.keys[0]!.key);
    this.encrypter = new SketchEncrypter(this.curve, this.key, this.random);
  }

  /** As many registers as the sketch has, those that nobody is in included. */
  encryptReach(sketch: ReachSketch): Uint8Array {
    const registers = Buffer.concat([...this.encrypter.reach(sketch)]);
    const empty = sketch.active.length - registers.length / CIPHERTEXT_BYTES;
    return Buffer.concat([registers, ...this.encryptEach(Array(empty).fill(NOBODY_INDEX))]);
  }

  encryptFrequency(sketch: FrequencySketch, maximumFrequency: number): Uint8Array {
    const registers = Buffer.concat([...this.encrypter.frequency(sketch, maximumFrequency)]);
    const empty = sketch.frequencies.length - registers.length / (3 * CIPHERTEXT_BYTES);
    const texts = Array.from({ length: empty }, (_, i) => [NOBODY_INDEX, `key ${i}`, `count ${i}`]);
    return Buffer.concat([registers, ...this.encryptEach(texts.flat())]);
  }

  private *encryptEach(texts: string[]): Generator<Uint8Array> {
    for (let from = 0; from < texts.length; from += this.curve.capacity) {
      const some = texts.slice(from, from + this.curve.capacity);
      const bytes = new Uint8Array(some.length * CIPHERTEXT_BYTES);
      const scalars = drawScalars(this.random, some.length);
      this.batch.encrypt(this.key, mapToCurve(this.curve, some), scalars);
      this.batch.store(bytes);
      yield bytes;
    }
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

/** Providers that have some people in common, some of them nobody at all. */
export function randomEvents(dice: Dice, providers: number, people: number): Events[] {
  return Array.from({ length: providers }, () => {
    const many = dice.oneOf([0, 1, people, dice.between(0, people)]);
    return new Map(
      Array.from({ length: many }, () => [dice.between(1, 2 * people), dice.oneOf([1, 1, 2, 3, 100])]),
    );
  });
}
