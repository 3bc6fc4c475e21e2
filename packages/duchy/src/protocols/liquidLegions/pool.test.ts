import { LiquidLegionsError } from '@measurement-exchange/mpc/protocols/liquidLegions/errors';
import { batchSize, checkPoints } from '@measurement-exchange/mpc/protocols/liquidLegions/stageWork';
import { ReachOnlyStages } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/duchy';
import { reachOnlyParameters } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/limits';
import { CIPHERTEXT_BYTES, POINT_BYTES } from '@measurement-exchange/mpc/sketches';
import { Ring, reachSketch } from '@measurement-exchange/testkit/mpc/ring';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Pool } from './pool.ts';

const dice = new Dice('pool');
const ring = new Ring(dice, 2);
const pool = new Pool(2);
afterAll(() => pool.close());

const spec = { decayRate: 3, maxSize: 260, dataProviderCount: 1, duchyCount: 2 };
const parameters = reachOnlyParameters({ ...spec, noiseMechanism: 'NONE' });
const sketch = ring.encryptReach(reachSketch(spec, new Map([[1, 1]])));
const [first] = ring.keys as [(typeof ring.keys)[number]];
/**
 * A message with enough registers for two batches. The last ciphertext takes the place of the encrypted count of
 * histogram noise.
 */
const message = Buffer.concat([sketch, sketch.subarray(0, CIPHERTEXT_BYTES)]);
const seed = dice.seed();

test('a stage returns the same bytes with one and two threads, and does not change its input', async () => {
  const before = Buffer.from(message);
  const alone = new Pool(1);
  const [byOne, byTwo] = await Promise.all(
    [alone, pool].map((some) => new ReachOnlyStages(parameters, some).execute(message, first, seed)),
  );
  await alone.close();
  expect(byOne).toEqual(byTwo);
  expect(message).toEqual(before);
});

test('batches have at most 2048 blocks, and from 4096 blocks on, their number is a multiple of 8', () => {
  expect([0, 1, 256, 257, 512, 2047, 2048].map(batchSize)).toEqual([256, 256, 256, 129, 256, 1024, 512]);
  for (const count of [4096, 4097, 5000, 16384, 16385, 1_000_000]) {
    expect(batchSize(count)).toBeLessThanOrEqual(2048);
    expect(Math.ceil(count / batchSize(count)) % 8).toBe(0);
  }
});

test('a stage reports a progress of 0.5 and 1', async () => {
  const seen: number[] = [];
  const onProgress = (fraction: number) => void seen.push(fraction);
  await new ReachOnlyStages(parameters, pool).execute(message, first, seed, { onProgress });
  expect(seen).toEqual([1 / 2, 1]);
});

describe('a failing stage', () => {
  const execute = (signal?: AbortSignal) =>
    new ReachOnlyStages(parameters, pool).execute(message, first, seed, { signal });

  test('rejects with the reason of an abort before or during its work, and the pool remains usable', async () => {
    await expect(execute(AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
    const controller = new AbortController();
    const running = execute(controller.signal);
    controller.abort(new Error('on the way'));
    await expect(running).rejects.toThrow('on the way');
    await expect(execute()).resolves.toHaveLength(message.length);
  });

  test('rejects with a temporary error if a thread ends, and succeeds on a retry', async () => {
    const running = execute();
    await Promise.all([
      expect(running).rejects.toThrow('a thread of the computation ended'),
      expect(running).rejects.not.toBeInstanceOf(LiquidLegionsError),
      pool.close(),
    ]);
    await expect(execute()).resolves.toHaveLength(message.length);
  });

  test('rejects with a LiquidLegionsError for an invalid message', async () => {
    const spoiled = Buffer.from(message).fill(4, 0, 1);
    const running = new ReachOnlyStages(parameters, pool).execute(spoiled, first, seed);
    await expect(running).rejects.toThrow(LiquidLegionsError);
  });
});

test('checkPoints rejects a point off the curve and an incomplete point', async () => {
  await expect(checkPoints(message, pool)).resolves.toBeUndefined();
  const spoiled = Buffer.from(message);
  spoiled.fill(0xff, message.length - POINT_BYTES + 1);
  await expect(checkPoints(spoiled, pool)).rejects.toThrow('not on the curve');
  await expect(checkPoints(message.subarray(1), pool)).rejects.toThrow(LiquidLegionsError);
});

test('work that arrives while a thread is ending runs in another thread', async () => {
  const ending = new Pool(1);
  await ending.run('sort', { parts: [], size: CIPHERTEXT_BYTES });
  for (let i = 0; i < 3; i++) {
    const closed = ending.close();
    const sorted = ending.run('sort', { parts: [new Uint8Array(CIPHERTEXT_BYTES)], size: CIPHERTEXT_BYTES });
    await Promise.all([closed, expect(sorted).resolves.toHaveLength(CIPHERTEXT_BYTES)]);
  }
  await ending.close();
});

describe('an idle thread', () => {
  /** Runs an operation. Returns whether the pool used the thread that it already had or started another one. */
  const threadOf = async (some: Pool) => {
    const before = started;
    await some.run('sort', { parts: [], size: CIPHERTEXT_BYTES });
    return started === before ? 'the same' : 'another';
  };
  let started = 0;
  const onWorker = () => started++;
  beforeAll(() => void process.on('worker', onWorker));
  afterAll(() => void process.off('worker', onWorker));

  test('ends after its idle time, unless a keepWhile callback returns true', async () => {
    const idle = new Pool(1, 50);
    let [asked, isNeeded] = [0, true];
    const forget = idle.keepWhile(async () => {
      asked++;
      return isNeeded;
    });
    idle.keepWhile(async () => {
      throw new Error('who cannot be asked does not need it');
    });
    expect(await threadOf(idle)).toBe('another');
    await expect.poll(() => asked).toBeGreaterThan(3);
    expect(await threadOf(idle)).toBe('the same');
    isNeeded = false;
    const before = asked;
    await expect.poll(() => asked).toBeGreaterThan(before);
    // After the callback has returned false, the pool ends the thread and stops calling the callback. One call is
    // therefore enough, and the limit tolerates a second one.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(asked).toBeLessThanOrEqual(before + 2);
    expect(await threadOf(idle)).toBe('another');
    forget();
    const last = asked;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(asked).toBe(last);
    await idle.close();
  });
});

test('idle threads do not keep the process alive', async () => {
  await pool.run('sort', { parts: [], size: CIPHERTEXT_BYTES });
  const workers = process.getActiveResourcesInfo().filter((name) => /worker|messageport/i.test(name));
  const busy = pool.run('drawNoiseRegisters', { parameters, seed });
  const busyWorkers = process.getActiveResourcesInfo().filter((name) => /worker|messageport/i.test(name));
  await busy;
  expect(busyWorkers.length).toBeGreaterThan(workers.length);
});
