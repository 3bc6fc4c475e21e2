/**
 * H2: sixteen clients act on the same measurements at the same time, through all exchanges. Eight measurements are
 * active at any time. Each request uses REST or gRPC at random. The history of every measurement must be linearizable.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { atScale, type Harness } from './harness.ts';
import { Traffic } from './traffic.ts';
import { withWorld } from './world.ts';

export const h2: Harness = {
  id: 'H2',
  title: 'concurrent histories are linearizable',
  run: (context) =>
    withWorld(context, { config: { console: false } }, async (world) => {
      const wanted = atScale(context, { slice: 400, short: 12_000, long: 150_000 });
      const deadline = Date.now() + atScale(context, { slice: 30, short: 600, long: 4 * 3600 }) * 1000;
      const traffic = new Traffic(world, context, {
        clients: 16,
        faults: false,
        faces: ['rest', 'grpc'],
      });
      traffic.start();
      while (traffic.operations < wanted && Date.now() < deadline) {
        if (context.planted !== undefined && world.violations.any) break;
        context.progress(traffic.operations, wanted);
        await sleep(200);
      }
      await traffic.stop();
      return { operations: traffic.operations, faults: 0 };
    }),
};
