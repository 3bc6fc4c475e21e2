/** After a fault ends, the first write must succeed within 5 s without intervention. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPath, draft } from './measurement.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

const LIMIT_MS = 5_000;

/**
 * Returns the milliseconds until a write has succeeded at each of these exchanges. More than 5 s is a violation. Stops
 * trying after 20 s.
 */
export async function firstSuccess(
  world: World,
  random: Random,
  exchanges: number[],
  after: string,
): Promise<number> {
  const started = performance.now();
  const times = exchanges.map(async (at) => {
    const made = draft(world, random);
    for (;;) {
      const reply = await world.call(at, made.consumer.name, 'POST', createPath(made), made.body);
      const took = performance.now() - started;
      if (reply.kind === 'response' && reply.status === 200) return took;
      if (took > 4 * LIMIT_MS) return took;
      await sleep(10);
    }
  });
  const longest = Math.max(...(await Promise.all(times)));
  world.tally.firstSuccessMs = Math.max(world.tally.firstSuccessMs, longest);
  if (longest > LIMIT_MS) {
    world.violations.add(`The first write after ${after} succeeded only after ${Math.round(longest)} ms`);
  }
  return longest;
}

/** Returns, for example, `median 120 ms, longest 800 ms`. */
export function describeTimes(times: number[]): string {
  if (times.length === 0) return 'none';
  const sorted = times.toSorted((a, b) => a - b);
  const [median, longest] = [sorted[sorted.length >> 1]!, sorted.at(-1)!].map(Math.round);
  return `median ${median} ms, longest ${longest} ms`;
}
