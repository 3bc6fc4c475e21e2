/**
 * H9: a failover to a synchronous standby loses no acknowledged write. A COMMIT that waits for a dead standby ends at
 * the deadline with an unknown outcome. If the server ends all connections, or has no connections left, the service is
 * interrupted only for a short time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { atScale, type Context, type Harness, type Outcome } from '../harness.ts';
import { describeTimes, firstSuccess } from '../recovery.ts';
import { Traffic } from '../traffic.ts';
import { type Counted, type World, type WorldOptions, withWorld } from '../world.ts';
import { loseWithoutStandby, outliveCancel, outliveDeadStandby } from './deadStandby.ts';
import { through } from './links.ts';
import { ChaosProxy } from './proxy.ts';
import { Pair } from './standby.ts';
import { endConnections, takeConnections } from './storms.ts';

const PLANS = {
  slice: { replicas: 2, failovers: 1, others: 0, canary: 0 },
  short: { replicas: 3, failovers: 3, others: 2, canary: 1 },
  long: { replicas: 3, failovers: 26, others: 5, canary: 1 },
};
const MOMENT_MS = 1_500;
const STORM_S = 5;

export const h9: Harness = {
  id: 'H9',
  title: 'failover to a synchronous standby loses no acknowledged write',
  // Creating the standbys takes most of the time, so a slice has only one failover and fewer exchanges.
  run: (context) =>
    withPair(context, { replicas: atScale(context, PLANS).replicas }, (world, pair) =>
      disturb(context, world, pair),
    ),
};

/** Runs `work` in a world whose PostgreSQL has a synchronous standby. */
export async function withPair(
  context: Context,
  options: WorldOptions,
  work: (world: World, pair: Pair) => Promise<Counted>,
): Promise<Outcome> {
  const random = context.random.fork('network');
  const database = await ChaosProxy.start({ random });
  const replication = await ChaosProxy.start({ random });
  let pair: Pair | undefined;
  try {
    return await withWorld(context, { ...options, databaseUrl: through(database) }, async (world) => {
      pair = await Pair.make(world.postgres, database, replication);
      try {
        return await work(world, pair);
      } finally {
        await pair.stop();
      }
    });
  } finally {
    await pair?.clean();
    for (const proxy of [database, replication]) await proxy.stop();
  }
}

async function disturb(context: Context, world: World, pair: Pair): Promise<Counted> {
  const { random } = context;
  const { failovers, others, canary } = atScale(context, PLANS);
  const total = failovers + 4 * others + canary;
  const everywhere = world.exchanges.map((_, i) => i);
  const traffic = new Traffic(world, context, { clients: 8, faults: true });
  traffic.start();
  let faults = 0;
  const calm = async (after: string) => {
    const took = await firstSuccess(world, random, everywhere, after);
    await traffic.settle();
    context.progress(++faults, total);
    return took;
  };

  const promotions: number[] = [];
  const successes: number[] = [];
  const giveUps: number[] = [];
  for (let i = 0; i < failovers; i++) {
    await sleep(300 + random.int(MOMENT_MS));
    const started = performance.now();
    await pair.failOver();
    world.tally.failovers++;
    promotions.push(performance.now() - started);
    successes.push(await calm('a failover'));
    if (i + 1 < failovers || canary > 0 || i < others) await pair.addStandby();
    if (i >= others) continue;

    giveUps.push(...(await outliveDeadStandby(world, random, pair, i % 2 === 0 ? 'killed' : 'cut off')));
    successes.push(await calm('the return of the standby'));
    await outliveCancel(world, random, pair);
    successes.push(await calm('COMMITs were cancelled'));
    await endConnections(world, STORM_S);
    successes.push(await calm('a storm of pg_terminate_backend'));
    await takeConnections(world, STORM_S);
    successes.push(await calm('no connection was left'));
  }
  await traffic.stop();
  for (let i = 0; i < canary; i++) {
    await loseWithoutStandby(world, random, pair);
    context.progress(++faults, total);
  }
  return {
    operations: traffic.operations,
    faults,
    notes: [
      `${traffic.unknown} unknown outcomes; kill to promoted: ${describeTimes(promotions)}; ` +
        `from there to the first write at every exchange: ${describeTimes(successes)}`,
      ...(giveUps.length === 0
        ? []
        : [`a write that waits for a dead standby ends after: ${describeTimes(giveUps)}`]),
    ],
  };
}
