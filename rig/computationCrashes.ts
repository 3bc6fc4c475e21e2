/**
 * H19, H19L: kill -9 of the exchange, duchies, mills and PostgreSQL at every stage of computations. Every computation
 * must end with one result, or fail because the kills made ten attempts at one stage fail.
 */
import { type Coverage, DUCHY_KINDS, type Kind, OTHER_KINDS } from './computations/coverage.ts';
import { RING, SHUFFLE } from './computations/family.ts';
import { Kills } from './computations/kills.ts';
import { startProviders } from './computations/providers.ts';
import { ComputationTraffic } from './computations/traffic.ts';
import { Witness } from './computations/witness.ts';
import { type ComputationWorld, withComputations } from './computations/world.ts';
import { atScale, type Context, type Harness, type Violations } from './harness.ts';
import { describeTimes } from './recovery.ts';
import type { Counted } from './world.ts';

const KILLS = { slice: 2, short: 12, long: 300 };
const KILLS_OF_RINGS = { slice: 2, short: 6, long: 100 };
/** The maximum duration, so that the harness ends even on a slow machine. */
const SECONDS = { slice: 60, short: 900, long: 2 * 3600 };
/**
 * How many stages, and how many cells (pairs of process kind and stage), may remain without a kill. The share shuffle
 * protocol has 14 stages and 84 cells. The two Liquid Legions protocols (the rings) together have 27 stages and 162
 * cells.
 */
const MISSING = {
  slice: { stages: 14, cells: 84 },
  short: { stages: 12, cells: 82 },
  long: { stages: 0, cells: 8 },
};
const MISSING_OF_RINGS = {
  slice: { stages: 27, cells: 162 },
  short: { stages: 27, cells: 162 },
  long: { stages: 4, cells: 120 },
};
/** Every fourth kill comes at a random moment. The other kills are aimed at a stage. */
const RANDOM_EVERY = 4;

export const h19: Harness = {
  id: 'H19',
  title: 'computations have at most one result despite kill -9 of any process',
  run: (context) => withComputations(context, SHUFFLE, (world) => crash(context, world, KILLS, MISSING)),
};

export const h19Rings: Harness = {
  id: 'H19L',
  title: 'ring computations have at most one result despite kill -9 of any process',
  run: (context) =>
    withComputations(context, RING, (world) => crash(context, world, KILLS_OF_RINGS, MISSING_OF_RINGS)),
};

async function crash(
  context: Context,
  world: ComputationWorld,
  killsAt: typeof KILLS,
  missing: typeof MISSING,
): Promise<Counted> {
  const { random, planted, progress } = context;
  const { violations } = world;
  const wanted = atScale(context, killsAt);
  const deadline = Date.now() + atScale(context, SECONDS) * 1000;
  const isDone = () => Date.now() > deadline || (planted !== undefined && violations.any);
  await using started = new AsyncDisposableStack();
  const providers = await startProviders(world, random, started);
  const witness = new Witness(world, context);
  const traffic = new ComputationTraffic(world, providers, witness);
  const kills = new Kills(world, random.fork('kills'));
  witness.start();
  traffic.start(random);
  let faults = 0;
  const keepKilling = async (kinds: readonly Kind[]) => {
    for (let n = 0; n < wanted / 2 && !isDone(); n++) {
      await kills.kill(kinds[n % kinds.length]!, { isAimed: n % RANDOM_EVERY !== RANDOM_EVERY - 1 });
      progress(++faults, wanted);
    }
  };
  try {
    // Duchies and the processes that they depend on are killed in parallel, so that two may be down at the same time.
    await Promise.all([keepKilling(DUCHY_KINDS), keepKilling(OTHER_KINDS)]);
  } finally {
    await traffic.stop({ atOnce: isDone() });
    await witness.stop();
  }
  const { coverage } = kills;
  if (planted === undefined) {
    const isWhole = faults >= wanted;
    await witness.examine({ hasEnded: isWhole });
    if (isWhole) requireCoverage(atScale(context, missing), context, coverage, violations);
  }
  const { succeeded, failed, exact, longestMs } = traffic;
  return {
    operations: witness.compared,
    faults,
    notes: [
      `${succeeded} computations succeeded, ${exact} of them without noise, ${failed} failed; the longest took ` +
        `${Math.round(longestMs / 1000)} s; kill to at work again: ${describeTimes(kills.recoveries)}; ` +
        `${witness.looks} looks into the databases`,
      `\n${coverage.table()}`,
    ],
  };
}

function requireCoverage(
  allowed: { stages: number; cells: number },
  context: Context,
  { missing }: Coverage,
  violations: Violations,
): void {
  if (context.scale !== 'slice' && missing.kinds.length > 0) {
    violations.add(`Nothing was killed of ${missing.kinds.join(', ')}`);
  }
  for (const key of ['stages', 'cells'] as const) {
    if (missing[key] > allowed[key])
      violations.add(`Kills missed ${missing[key]} ${key}, and may miss ${allowed[key]}`);
  }
}
