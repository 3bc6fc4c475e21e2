/**
 * H5: kill -9 of one exchange, or of all exchanges except one, at random moments, while eight clients write.
 * Acknowledged writes must survive.
 */
import { underCrashes } from './crashes.ts';
import type { Harness } from './harness.ts';
import type { Random } from './random.ts';
import { describeTimes, firstSuccess } from './recovery.ts';
import { withWorld } from './world.ts';

const MOMENT_MS = 800;

export const h5: Harness = {
  id: 'H5',
  title: 'kill -9 of exchanges loses no acknowledged write',
  run: (context) =>
    withWorld(context, {}, async (world) => {
      const { random } = context;
      const elsewhere: number[] = [];
      const starts: number[] = [];
      const { unknown, ...counted } = await underCrashes(context, world, {
        kills: { slice: 1, short: 30, long: 500 },
        momentMs: () => random.int(MOMENT_MS),
        async crash() {
          const { survivors, victims } = draw(random, world.exchanges.length);
          await Promise.all(victims.map((i) => world.exchanges[i]!.kill('SIGKILL')));
          world.tally.exchangeKills += victims.length;
          const started = performance.now();
          const [first] = await Promise.all([
            firstSuccess(world, random, survivors, 'the end of another exchange'),
            ...victims.map((i) => world.exchanges[i]!.start()),
          ]);
          elsewhere.push(first);
          starts.push(performance.now() - started);
          await firstSuccess(world, random, victims, 'its restart');
          return victims.length;
        },
      });
      return {
        ...counted,
        notes: [
          `${unknown} unknown outcomes; first write at the other exchanges: ${describeTimes(elsewhere)}; ` +
            `restart until ready: ${describeTimes(starts)}`,
        ],
      };
    }),
};

/** Draws the victims. At least one exchange survives. */
function draw(random: Random, exchanges: number): { survivors: number[]; victims: number[] } {
  const all = Array.from({ length: exchanges }, (_, i) => i);
  const chosen = random.int(exchanges);
  const one = random.chance(0.5);
  const victims = all.filter((i) => (i === chosen) === one);
  return { victims, survivors: all.filter((i) => !victims.includes(i)) };
}
