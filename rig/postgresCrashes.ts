/** H6: kill -9 of PostgreSQL: its postmaster, one backend, or all processes. Acknowledged writes must survive. */
import { underCrashes } from './crashes.ts';
import type { Harness } from './harness.ts';
import { describeTimes, firstSuccess } from './recovery.ts';
import type { PostgresVictim } from './world/postgres.ts';
import { withWorld } from './world.ts';

const VICTIMS: PostgresVictim[] = ['group', 'backend', 'postmaster'];
/** The range of the random pause between two crashes, which leaves time for some traffic. */
const MOMENT_MS = 1_500;

export const h6: Harness = {
  id: 'H6',
  title: 'kill -9 of PostgreSQL loses no acknowledged write',
  run: (context) =>
    withWorld(context, {}, async (world) => {
      const { random } = context;
      const everywhere = world.exchanges.map((_, i) => i);
      const recoveries: number[] = [];
      const successes: number[] = [];
      const { unknown, ...counted } = await underCrashes(context, world, {
        kills: { slice: 2, short: 10, long: 150 },
        momentMs: () => 300 + random.int(MOMENT_MS),
        async crash(n) {
          // Take the victims in turn, so that even two kills are of two kinds.
          const victim = VICTIMS[n % VICTIMS.length]!;
          const started = performance.now();
          world.postgres.kill(victim, (pids) => random.pick(pids));
          world.tally.postgresKills++;
          await world.postgres.restart();
          recoveries.push(performance.now() - started);
          successes.push(await firstSuccess(world, random, everywhere, `kill -9 of PostgreSQL's ${victim}`));
          return 1;
        },
      });
      return {
        ...counted,
        notes: [
          `${unknown} unknown outcomes; kill to PostgreSQL serving: ${describeTimes(recoveries)}; ` +
            `from there to the first write at every exchange: ${describeTimes(successes)}`,
        ],
      };
    }),
};
