/** H5: kill -9 of exchanges at any moment, under eight writers; what was acknowledged stays (D1, D3, D4). */
import { setTimeout as sleep } from 'node:timers/promises';
import { atScale, type Harness } from './harness.ts';
import { describeTimes, firstSuccess } from './recovery.ts';
import { Traffic } from './traffic.ts';
import { withWorld } from './world.ts';

const MOMENT_MS = 800;

export const h5: Harness = {
  id: 'H5',
  title: 'kill -9 of exchanges loses nothing',
  run: (context) =>
    withWorld(context, {}, async (world) => {
      const { random } = context;
      const kills = atScale(context, { slice: 2, short: 30, long: 500 });
      const deadline = Date.now() + atScale(context, { slice: 60, short: 900, long: 4 * 3600 }) * 1000;
      const traffic = new Traffic(world, context, { clients: 8, faults: true, pauseMs: 10 });
      traffic.start();
      const elsewhere: number[] = [];
      const starts: number[] = [];
      let faults = 0;
      const done = () => Date.now() > deadline || (context.planted !== undefined && world.violations.any);
      for (; faults < kills && !done(); faults++) {
        await sleep(random.int(MOMENT_MS));
        const victim = random.int(world.exchanges.length);
        await world.exchanges[victim]!.kill('SIGKILL');
        const others = world.exchanges.map((_, i) => i).filter((i) => i !== victim);
        const started = performance.now();
        const [first] = await Promise.all([
          firstSuccess(world, random, others, 'the end of another exchange'),
          world.exchanges[victim]!.start(),
        ]);
        elsewhere.push(first);
        starts.push(performance.now() - started);
        await firstSuccess(world, random, [victim], 'its restart');
        await traffic.settle();
        context.progress(faults + 1, kills);
      }
      await traffic.stop();
      return {
        operations: traffic.operations,
        faults,
        notes: [
          `${traffic.unknown} unknown outcomes; first write at the other exchanges: ${describeTimes(elsewhere)}; ` +
            `restart until ready: ${describeTimes(starts)}`,
        ],
      };
    }),
};
