/** H6: kill -9 of PostgreSQL, its first process, one backend or all of them; what was acknowledged stays (D2). */
import { setTimeout as sleep } from 'node:timers/promises';
import { atScale, type Harness } from './harness.ts';
import { describeTimes, firstSuccess } from './recovery.ts';
import { Traffic } from './traffic.ts';
import type { PostgresVictim } from './world/postgres.ts';
import { withWorld } from './world.ts';

const VICTIMS: PostgresVictim[] = ['group', 'backend', 'postmaster'];
/** Long enough for traffic between two crashes. */
const MOMENT_MS = 1_500;

export const h6: Harness = {
  id: 'H6',
  title: 'kill -9 of PostgreSQL loses nothing',
  run: (context) =>
    withWorld(context, {}, async (world) => {
      const { random } = context;
      const kills = atScale(context, { slice: 2, short: 10, long: 150 });
      const deadline = Date.now() + atScale(context, { slice: 60, short: 600, long: 4 * 3600 }) * 1000;
      const traffic = new Traffic(world, context, { clients: 8, faults: true, pauseMs: 10 });
      traffic.start();
      const recoveries: number[] = [];
      const successes: number[] = [];
      let faults = 0;
      const done = () => Date.now() > deadline || (context.planted !== undefined && world.violations.any);
      for (; faults < kills && !done(); faults++) {
        await sleep(300 + random.int(MOMENT_MS));
        // In turn, so that even two kills are of two kinds.
        const victim = VICTIMS[faults % VICTIMS.length]!;
        const started = performance.now();
        world.postgres.kill(victim, (pids) => random.pick(pids));
        await world.postgres.restart();
        recoveries.push(performance.now() - started);
        const all = world.exchanges.map((_, i) => i);
        successes.push(await firstSuccess(world, random, all, `kill -9 of PostgreSQL's ${victim}`));
        await traffic.settle();
        context.progress(faults + 1, kills);
      }
      await traffic.stop();
      return {
        operations: traffic.operations,
        faults,
        notes: [
          `${traffic.unknown} unknown outcomes; kill to PostgreSQL serving: ${describeTimes(recoveries)}; ` +
            `from there to the first write at every exchange: ${describeTimes(successes)}`,
        ],
      };
    }),
};
