/**
 * A process that runs the stages of one Liquid Legions duchy, from input files to output files. It can also write a
 * provider's encrypted sketch, and measure single curve operations.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { POOL } from '@measurement-exchange/duchy/internal/protocols/liquidLegions/pool';
import type { RingKeys } from '@measurement-exchange/mpc/protocols/liquidLegions/ringKeys';
import { FrequencyStages } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/duchy';
import { frequencyParameters } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';
import { FrequencySketch } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
import { ReachOnlyStages } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/duchy';
import { reachOnlyParameters } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/limits';
import { ReachSketch } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
import { Keystream, newSeed } from '@measurement-exchange/mpc/shares';
import {
  BATCH,
  Curve,
  drawScalars,
  ElGamalPublicKey,
  mapToCurve,
  POINT_BYTES,
  SCALAR_BYTES,
  SketchEncrypter,
} from '@measurement-exchange/mpc/sketches';
import { residentBytes } from './exchange.ts';
import { type LegionsSize, legionsSpec, MAXIMUM_FREQUENCY, type Operations } from './legionsSpec.ts';
import { curveFigures } from './liquidLegions.ts';
import { serve } from './processes.ts';

export interface StageInput {
  size: LegionsSize;
  isFull: boolean;
  stage: string;
  keys: RingKeys;
  inputs: string[];
  output: string;
}

export interface StageTimes {
  wallMs: number;
  /** The processor time of all threads. */
  processorMs: number;
  /** The size of the output. */
  bytes: number;
  result?: unknown;
}

const handlers = {
  /** Writes the encrypted sketch of a provider that reached the VIDs from `first` to `first + people - 1`. */
  sketch({
    size,
    isFull,
    key,
    first,
    people,
    output,
  }: {
    size: LegionsSize;
    isFull: boolean;
    key: Uint8Array;
    first: number;
    people: number;
    output: string;
  }) {
    const spec = legionsSpec(size);
    const curve = new Curve();
    const random = new Keystream(newSeed());
    const encrypter = new SketchEncrypter(curve, new ElGamalPublicKey(curve, key), random);
    const started = performance.now();
    let bytes: Uint8Array[];
    let active = 0;
    if (isFull) {
      const sketch = new FrequencySketch(spec);
      for (let vid = first; vid < first + people; vid++) sketch.add(vid, 1 + (vid % 3));
      active = sketch.frequencies.reduce((sum, frequency) => sum + Number(frequency > 0), 0);
      bytes = [...encrypter.frequency(sketch, MAXIMUM_FREQUENCY)];
    } else {
      const sketch = new ReachSketch(spec);
      for (let vid = first; vid < first + people; vid++) sketch.add(vid);
      active = sketch.active.reduce((sum, one) => sum + one, 0);
      bytes = [...encrypter.reach(sketch)];
    }
    writeFileSync(output, Buffer.concat(bytes));
    return { ms: performance.now() - started, active };
  },

  async stage({ size, isFull, stage, keys, inputs, output }: StageInput): Promise<StageTimes> {
    const stages = isFull
      ? new FrequencyStages(frequencyParameters(legionsSpec(size)), POOL)
      : new ReachOnlyStages(reachOnlyParameters(legionsSpec(size)), POOL);
    const given = inputs.map((file) => readFileSync(file));
    const takesMany = stage === 'setup' || stage === 'combine';
    const run = (stages as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[stage]!.bind(
      stages,
    );
    const before = process.cpuUsage();
    const started = performance.now();
    const result = await run(takesMany ? given : given[0], keys, newSeed());
    const wallMs = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    const bytes = bytesOf(result);
    if (bytes !== undefined) writeFileSync(output, bytes);
    const times = { wallMs, processorMs: (user + system) / 1000, bytes: bytes?.length ?? 0 };
    return bytes === undefined ? { ...times, result } : times;
  },

  /**
   * Measures the cost of each operation that the stages consist of. The first call is slower, because V8 compiles the
   * code while it runs.
   */
  costs(_: null): Operations {
    const curve = new Curve();
    const random = new Keystream(newSeed());
    const [points, results] = curve.spare;
    const scalars = drawScalars(random, BATCH);
    const scalar = scalars.subarray(0, SCALAR_BYTES);
    const bytes = new Uint8Array(BATCH * POINT_BYTES);
    const texts = Array.from({ length: BATCH }, (_, i) => String(i));
    const table = curve.generator;
    const fixed = perOperation(() => curve.multiplyFixed(points, table, scalars));
    curve.store(points, bytes, BATCH);
    return {
      fixed,
      decompress: perOperation(() => curve.load(points, bytes, BATCH)),
      multiply: perOperation(() => curve.multiply(results, points, scalar)),
      multiplyEach: perOperation(() => curve.multiplyEach(results, points, scalars)),
      blind: perOperation(() => curve.multiplyPair(points, results, scalar, scalar)),
      blindEach: perOperation(() => curve.multiplyPairEach(points, results, scalars, scalars)),
      map: perOperation(() => mapToCurve(curve, texts)),
    };
  },

  curve: ({ count }: { count: number }) => curveFigures(count),

  peakMegabytes: (_: null) => residentBytes(process.pid).peak / 1e6,
};

export type LegionsDuchy = typeof handlers;

function bytesOf(result: unknown): Uint8Array | undefined {
  if (result instanceof Uint8Array) return result;
  const { comparisons } = Object(result) as { comparisons?: Uint8Array };
  return comparisons;
}

function perOperation(work: () => void): number {
  const before = process.threadCpuUsage();
  for (let i = 0; i < 2; i++) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / (2 * BATCH);
}

serve(handlers);
