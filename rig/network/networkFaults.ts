/**
 * H8: network faults between callers and exchanges and between exchanges and PostgreSQL, one at a time, with calm
 * periods between them. Every operation must take effect completely or not at all. A response must state the true
 * outcome, but a missing response, 503 and 504 leave the outcome unknown.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { atScale, type Context, type Harness } from '../harness.ts';
import { describeTimes, firstSuccess } from '../recovery.ts';
import { Traffic } from '../traffic.ts';
import { type Counted, type World, withWorld } from '../world.ts';
import { through } from './links.ts';
import { ChaosProxy } from './proxy.ts';
import { describe, drawWindows, type LinkName, lengthOf } from './windows.ts';

interface Plan {
  replicas: number;
  windows: number;
  windowMs: number;
  calmMs: number;
}

/** A window is a period with one fault. 21 windows cover every kind of fault on every link once. */
const PLANS = {
  slice: { replicas: 2, windows: 2, windowMs: 1_500, calmMs: 300 },
  short: { replicas: 3, windows: 21, windowMs: 2_500, calmMs: 700 },
  long: { replicas: 3, windows: 42, windowMs: 4_000, calmMs: 1_500 },
};

/** Requests must no longer fail when this much time has passed since the end of the last fault. */
const QUIET_AFTER_MS = 10_000;
const QUIET_MS = 3_000;

export const h8: Harness = {
  id: 'H8',
  title: 'network faults, including dropped COMMIT responses, leave no operation half done',
  async run(context) {
    const random = context.random.fork('network');
    const database = await ChaosProxy.start({ random, postgres: true });
    try {
      return await withWorld(
        context,
        { databaseUrl: through(database), replicas: atScale(context, PLANS).replicas },
        async (world) => {
          const clients = await leadCallers(world, (target) => ChaosProxy.start({ random }, target));
          try {
            return await disturb(context, timed(world), { clients, database: [database] });
          } finally {
            for (const proxy of clients) await proxy.stop();
          }
        },
      );
    } finally {
      await database.stop();
    }
  },
};

/** Makes callers reach every exchange through a proxy. */
async function leadCallers(
  world: World,
  start: (target: { host: string; port: number }) => Promise<ChaosProxy>,
): Promise<ChaosProxy[]> {
  return Promise.all(
    world.exchanges.map(async (exchange) => {
      const { hostname, port } = new URL(exchange.url);
      const proxy = await start({ host: hostname, port: Number(port) });
      exchange.url = `http://${proxy.address.host}:${proxy.address.port}`;
      return proxy;
    }),
  );
}

/**
 * A world that measures the duration of the longest request that began during a fault of the database link. The
 * callers' link works at that time, so the exchange responds to each of these requests.
 */
interface Timed extends World {
  disturbed: LinkName | undefined;
  longestMs: number;
}

function timed(world: World): Timed {
  const result: Timed = {
    ...world,
    disturbed: undefined,
    longestMs: 0,
    async call(...request) {
      const [started, { disturbed }] = [performance.now(), result];
      const reply = await world.call(...request);
      if (disturbed === 'database')
        result.longestMs = Math.max(result.longestMs, performance.now() - started);
      return reply;
    },
  };
  return result;
}

async function disturb(
  context: Context,
  world: Timed,
  proxies: Record<LinkName, ChaosProxy[]>,
): Promise<Counted> {
  const { windows, windowMs, calmMs }: Plan = atScale(context, PLANS);
  const everywhere = world.exchanges.map((_, i) => i);
  const traffic = new Traffic(world, context, { clients: 8, faults: true });
  traffic.start();
  const successes: number[] = [];
  let faults = 0;
  for (const window of drawWindows(context.random.fork('windows'), windows)) {
    if (context.planted !== undefined && world.violations.any) break;
    await sleep(calmMs);
    for (const proxy of proxies[window.link]) await proxy.impose(window.fault, window.share);
    world.disturbed = window.link;
    await sleep(lengthOf(window, windowMs));
    world.disturbed = undefined;
    for (const proxy of proxies[window.link]) await proxy.clear();
    successes.push(await firstSuccess(world, context.random, everywhere, describe(window)));
    await traffic.settle();
    context.progress(++faults, windows);
  }
  if (context.scale !== 'slice' && context.planted === undefined) await expectQuiet(world, traffic);
  await traffic.stop();
  const [{ drops }] = proxies.database as [ChaosProxy];
  return {
    operations: traffic.operations,
    faults,
    notes: [
      `${traffic.unknown} unknown outcomes; ${drops} COMMITs or their responses dropped; ` +
        `longest request under a fault of the database link ${Math.round(world.longestMs)} ms; ` +
        `end of the fault to the first write at every exchange: ${describeTimes(successes)}`,
    ],
  };
}

async function expectQuiet(world: World, traffic: Traffic): Promise<void> {
  await sleep(QUIET_AFTER_MS);
  const before = traffic.unknown;
  await sleep(QUIET_MS);
  const failed = traffic.unknown - before;
  if (failed > 0) {
    world.violations.add(
      `${failed} requests failed later than ${QUIET_AFTER_MS / 1000} s after the last fault`,
    );
  }
}
