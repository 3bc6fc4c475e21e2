/**
 * The common part of H5 (crashes of exchanges) and H6 (crashes of PostgreSQL): traffic and repeated crashes. After each
 * crash, finished measurements are read again and checked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { atScale, type Context, type Scale } from './harness.ts';
import { Traffic } from './traffic.ts';
import type { World } from './world.ts';

export interface Crashes {
  kills: Record<Scale, number>;
  /**
   * Returns the milliseconds to wait before a kill. The wait starts when the traffic after the last kill has settled.
   */
  momentMs: () => number;
  /**
   * Kills processes, waits until the service works again, and returns the number of processes that it killed. `n` is
   * the number of processes that were killed before this call.
   */
  crash: (n: number) => Promise<number>;
}

/** A time limit, so that the harness ends even on a slow machine. */
const SECONDS = { slice: 60, short: 900, long: 4 * 3600 };

export async function underCrashes(context: Context, world: World, { kills, momentMs, crash }: Crashes) {
  const wanted = atScale(context, kills);
  const deadline = Date.now() + atScale(context, SECONDS) * 1000;
  const traffic = new Traffic(world, context, { clients: 8, faults: true, pauseMs: 10 });
  traffic.start();
  const done = () => Date.now() > deadline || (context.planted !== undefined && world.violations.any);
  let faults = 0;
  while (faults < wanted && !done()) {
    await sleep(momentMs());
    faults += await crash(faults);
    await traffic.settle();
    context.progress(Math.min(faults, wanted), wanted);
  }
  await traffic.stop();
  return { operations: traffic.operations, faults, unknown: traffic.unknown };
}
