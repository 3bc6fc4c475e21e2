/**
 * Reach-only Liquid Legions v2, stage by stage, as functions from bytes to bytes. A message is the registers of all sketches,
 * each the ciphertext of its index, sorted; and last a ciphertext of the number of registers that noise added.
 *
 * Setup: every duchy appends its noise to the sketches it got; the aggregator puts all together. Execution: one worker after
 * the other takes its key off, and multiplies what is left by a secret number; at the aggregator, equal registers are then
 * equal points, and nobody knows of which index.
 */
import {
  CIPHERTEXT_BYTES,
  countPoints,
  drawScalars,
  estimatePeople,
  Keystream,
  POINT_BYTES,
  REACH_REGISTER_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { runs, sortBlocks } from './blocks.ts';
import { LiquidLegionsError } from './errors.ts';
import { type NoiseParameters, type NoiseSpec, noiseParameters } from './noiseParameters.ts';
import { noiseRegisters } from './noiseRegisters.ts';
import type { RingKeys } from './ringKeys.ts';
import type { StageRun } from './stageRun.ts';
import { ALONE, checkBlocks, Workspace } from './workspace.ts';

export function reachOnlyParameters(spec: NoiseSpec): NoiseParameters {
  return noiseParameters(spec, 'reachOnlyLiquidLegionsV2');
}

export class ReachOnlyStages {
  private readonly parameters: NoiseParameters;
  private readonly workspace: Workspace;

  constructor(parameters: NoiseParameters, workspace = new Workspace()) {
    this.parameters = parameters;
    this.workspace = workspace;
  }

  /** What each duchy does: sketches of providers and noise, under the combined key of all duchies. */
  async setup(
    sketches: readonly Uint8Array[],
    keys: RingKeys,
    seed: Uint8Array,
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { workspace } = this;
    const key = workspace.key(keys.key);
    signal?.throwIfAborted();
    for (const sketch of sketches) checkBlocks(sketch, REACH_REGISTER_BYTES, 'a sketch');
    const random = new Keystream(seed);
    const { registers, histogramCount } = noiseRegisters(this.parameters, random);
    const noise = new Uint8Array(registers.length * REACH_REGISTER_BYTES);
    workspace.encrypt(workspace.points(registers.map(({ text }) => text)), key, random, noise);
    const excess = workspace.encryptZeros(1, key, random);
    if (histogramCount > 0) {
      const points = countPoints(workspace.curve, histogramCount);
      workspace.change(excess, ALONE, excess, (batch) => batch.addPoints(points.subarray(-POINT_BYTES)));
    }
    onProgress?.(1);
    return message([...sketches, noise], excess);
  }

  /** What the aggregator does then: the messages of all duchies, its own included, as one. */
  async combine(
    messages: readonly Uint8Array[],
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    const { other } = this.workspace;
    const all = messages.map(parts);
    const excess = Uint8Array.from(all[0]!.excess);
    for (const { excess: next } of all.slice(1)) {
      other.load(next, 1);
      this.workspace.change(excess, ALONE, excess, (batch) => batch.add(other));
    }
    onProgress?.(1);
    return message(
      all.map(({ registers }) => registers),
      excess,
    );
  }

  /** What each worker does. */
  async execute(
    given: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { secretKey } = keys;
    const restKey = this.workspace.key(keys.restKey);
    signal?.throwIfAborted();
    const { registers, excess } = parts(given);
    const random = new Keystream(seed);
    const blinding = drawScalars(random, 1);
    const blinded = new Uint8Array(registers.length);
    this.workspace.change(registers, ALONE, blinded, (batch, count) => {
      batch.decrypt(secretKey);
      batch.multiply(blinding);
      // Else ciphertexts that somebody made multiples of each other would stay so, and could be followed.
      batch.reRandomize(restKey, drawScalars(random, count));
    });
    const left = new Uint8Array(CIPHERTEXT_BYTES);
    this.workspace.change(excess, ALONE, left, (batch) => {
      batch.decrypt(secretKey);
      batch.reRandomize(restKey, drawScalars(random, 1));
    });
    onProgress?.(1);
    return message([blinded], left);
  }

  /** What the aggregator does last: how many registers have somebody, as far as the noise lets it know. */
  async count(
    given: Uint8Array,
    { secretKey }: RingKeys,
    { signal, onProgress }: StageRun = {},
  ): Promise<number> {
    signal?.throwIfAborted();
    const { registers, excess } = parts(given);
    const points = this.workspace.decrypt(registers, ALONE, secretKey);
    const distinct = runs(sortBlocks(points, POINT_BYTES), POINT_BYTES, POINT_BYTES).length - 1;
    const { duchyCount, reachNoise, knownRegisters } = this.parameters;
    const noise = duchyCount * reachNoise.offset + this.decryptCount(excess, secretKey) + 2 * knownRegisters;
    onProgress?.(1);
    return Math.max(0, distinct - noise);
  }

  private decryptCount(ciphertext: Uint8Array, secretKey: Uint8Array): number {
    const { workspace } = this;
    if (workspace.zeros(ciphertext, ALONE, secretKey)[0] === 1) return 0;
    const point = Buffer.from(workspace.decrypt(ciphertext, ALONE, secretKey));
    const { histogramNoise, dataProviderCount, duchyCount } = this.parameters;
    const most = 2 * histogramNoise.offset * dataProviderCount * duchyCount;
    const table = countPoints(workspace.curve, most);
    for (let i = 0; i < most; i++) {
      if (point.equals(table.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES))) return i + 1;
    }
    throw new LiquidLegionsError('the number of noise registers is none that the duchies can have added');
  }
}

/** `width` of the interval of the spec, in which it is a 32-bit float. */
export function estimateReach(parameters: NoiseParameters, registers: number, width: number): number {
  return Math.trunc(estimatePeople(parameters, registers) / Math.fround(width));
}

function message(registers: readonly Uint8Array[], excess: Uint8Array): Uint8Array<ArrayBuffer> {
  const sorted = sortBlocks(Buffer.concat(registers), REACH_REGISTER_BYTES);
  const bytes = new Uint8Array(sorted.length + excess.length);
  bytes.set(sorted);
  bytes.set(excess, sorted.length);
  return bytes;
}

function parts(given: Uint8Array): { registers: Uint8Array; excess: Uint8Array } {
  checkBlocks(given, REACH_REGISTER_BYTES, 'a message');
  if (given.length === 0) throw new LiquidLegionsError('a message must have the ciphertext of its noise');
  const end = given.length - CIPHERTEXT_BYTES;
  return { registers: given.subarray(0, end), excess: given.subarray(end) };
}
