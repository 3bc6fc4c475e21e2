/**
 * H20: watchers of every party are disconnected and resume. Meanwhile exchanges and PostgreSQL are killed, PostgreSQL
 * fails over, and open transactions delay the feed. Each watcher must see every version of every resource of its party
 * exactly once, in order. The webhooks of two parties must get every version in order; repeated deliveries are allowed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { atScale, type Context, type Harness } from '../harness.ts';
import { withPair } from '../network/failover.ts';
import type { Pair } from '../network/standby.ts';
import { firstSuccess } from '../recovery.ts';
import { Traffic } from '../traffic.ts';
import type { PostgresVictim } from '../world/postgres.ts';
import type { Counted, World } from '../world.ts';
import { Endpoints } from './endpoints.ts';
import { changesIn, hasLeap, isStep, mistakeIn, type Truth, truthOf } from './truth.ts';
import { Watcher } from './watcher.ts';

const PLANS = {
  slice: { watchers: 10, clients: 4, changes: 300, faults: 2, failovers: 0 },
  short: { watchers: 40, clients: 8, changes: 2_000, faults: 6, failovers: 1 },
  long: { watchers: 200, clients: 16, changes: 100_000, faults: 120, failovers: 10 },
};
/** A time limit, so that the harness ends even on a slow machine. */
const SECONDS = { slice: 60, short: 240, long: 3 * 3600 };
const MOMENT_MS = 800;
const HELD_MS = 3_000;
const INTERRUPT_EVERY_MS = 250;
/** The maximum wait for the last change after all disturbances have ended. */
const PATIENCE_MS = 60_000;
/**
 * The maximum wait for the last change if a bug is planted. The bug can prevent the last change from arriving at all.
 */
const PLANTED_MS = 5_000;

export const h20: Harness = {
  id: 'H20',
  title: 'every watcher receives each change exactly once, in order',
  run: (context) => withPair(context, {}, (world, pair) => watch(context, world, pair)),
};

async function watch(context: Context, world: World, pair: Pair): Promise<Counted> {
  const { random } = context;
  // Use the smallest plan for a planted bug, because such a bug usually shows quickly. The traffic continues until the
  // bug shows, or until the time limit.
  const isPlanted = context.planted !== undefined;
  const plan = isPlanted ? PLANS.slice : atScale(context, PLANS);
  const deadline = Date.now() + atScale(context, SECONDS) * 1000;
  const parties = [...world.consumers, ...world.providers].map(({ name }) => name);
  const watchers = Array.from({ length: plan.watchers }, (_, n) => {
    // Give the watchers to the parties in pairs: one watcher that reads pages, and one that reads a stream.
    const party = parties[Math.floor(n / 2) % parties.length]!;
    return new Watcher(world, random.fork(`watcher ${n}`), party, n);
  });
  for (const watcher of watchers) watcher.start();
  const endpoints = await Endpoints.start(world, random.fork('endpoints'), [
    world.consumers[0]!.name,
    world.providers[0]!.name,
  ]);
  const interrupting = setInterval(() => random.pick(watchers).interrupt(), INTERRUPT_EVERY_MS);
  const traffic = new Traffic(world, context, { clients: plan.clients, faults: true, pauseMs: 5 });
  traffic.start();
  let faults = 0;
  const isFound = () => world.violations.any || watchers.some(({ seen }) => hasLeap(seen));
  const done = () => Date.now() > deadline || (isPlanted && isFound());
  const total = plan.faults + plan.failovers;
  for (; faults < total && !done(); faults++) {
    await sleep(random.int(MOMENT_MS));
    if (faults % Math.ceil(total / (plan.failovers + 1)) === 1 && world.tally.failovers < plan.failovers) {
      await failOver(world, pair);
    } else {
      await FAULTS[faults % FAULTS.length]!(world, context);
    }
    await firstSuccess(
      world,
      random,
      world.exchanges.map((_, i) => i),
      'a fault',
    );
    await traffic.settle();
    context.progress(faults, total);
  }
  while ((isPlanted || (await logged(world)) < plan.changes) && !done()) await sleep(500);
  await traffic.stop();
  clearInterval(interrupting);
  const truths = await truthOf(world.postgres);
  const patienceMs = isPlanted ? PLANTED_MS : PATIENCE_MS;
  const changes = await compare(world, watchers, truths, patienceMs);
  await Promise.all(watchers.map((watcher) => watcher.stop()));
  const delivered = isPlanted ? 0 : await endpoints.compare(truths);
  await endpoints.stop();
  return {
    operations: traffic.operations + changes + delivered,
    faults,
    notes: [
      `${watchers.length} watchers were shown ${changes}, all together, of the ${await logged(world)} changes of the log; ` +
        `${traffic.unknown} unknown outcomes`,
      `${delivered} were delivered to webhooks, ${endpoints.repeats} of them again`,
    ],
  };
}

/** The number of changes in the log. Each change belongs to one party. */
async function logged({ postgres }: World): Promise<number> {
  return Number((await postgres.query('SELECT count(*) AS n FROM changes'))[0]!.n);
}

const FAULTS = [killExchange, holdHorizon, killPostgres];

async function killExchange({ exchanges, tally }: World, { random }: Context): Promise<void> {
  const victim = random.pick(exchanges);
  await victim.kill('SIGKILL');
  tally.exchangeKills++;
  await victim.start();
}

const VICTIMS: PostgresVictim[] = ['group', 'backend', 'postmaster'];

async function killPostgres({ postgres, tally }: World, { random }: Context): Promise<void> {
  postgres.kill(random.pick(VICTIMS), (pids) => random.pick(pids));
  tally.postgresKills++;
  await postgres.restart();
}

async function failOver({ tally }: World, pair: Pair): Promise<void> {
  await pair.failOver();
  tally.failovers++;
  await pair.addStandby();
}

/**
 * Holds open a transaction that has an ID. The feed must not show the changes of later transactions until this
 * transaction ends.
 */
async function holdHorizon({ postgres }: World): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_current_xact_id()');
    await sleep(HELD_MS);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** Compares what the watchers saw with the truth. Returns the total number of changes that they saw. */
async function compare(
  { violations }: World,
  watchers: Watcher[],
  truths: Map<string, Truth>,
  patienceMs: number,
): Promise<number> {
  const truthFor = (watcher: Watcher) => truths.get(watcher.party) ?? new Map();
  const isBehind = (watcher: Watcher) => watcher.seen.filter(isStep).length < changesIn(truthFor(watcher));
  for (const started = Date.now(); Date.now() - started < patienceMs && watchers.some(isBehind); )
    await sleep(100);
  let changes = 0;
  for (const watcher of watchers) {
    changes += watcher.seen.length;
    const mistake = mistakeIn(watcher.seen, truthFor(watcher));
    if (mistake !== undefined) violations.add(`${watcher.name} saw ${mistake}`);
  }
  return changes;
}
