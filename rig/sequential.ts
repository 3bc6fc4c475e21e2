/**
 * H1: random sequences of operations are sent, one request at a time, and each response is compared with the model.
 * Failing sequences are shrunk.
 */
import fc from 'fast-check';
import { atScale, type Context, type Harness } from './harness.ts';
import { commandsOf } from './sequential/commands.ts';
import type { Real } from './sequential/steps.ts';
import { type World, withWorld } from './world.ts';

/** The longest time for shrinking a failure. */
const SHRINK_MS = 60_000;

export const h1: Harness = {
  id: 'H1',
  title: 'random sequences of operations get the responses of the model',
  // Log at level info, so that the rig's search for tokens covers the log lines of all requests, too.
  run: (context) =>
    withWorld(context, { config: { logLevel: 'info' } }, (world) => sequences(context, world)),
};

async function sequences(context: Context, world: World) {
  const runs = atScale(context, { slice: 5, short: 100, long: 1_000 });
  const maxCommands = atScale(context, { slice: 30, short: 40, long: 60 });
  const real: Real = { world, operations: 0 };
  let [done, failedAt] = [0, Number.POSITIVE_INFINITY];
  const property = fc.asyncProperty(
    fc.commands(commandsOf(world.exchanges.length), { maxCommands, size: 'max' }),
    async (commands) => {
      // After the time for shrinking, report success immediately, so that fast-check stops.
      if (Date.now() > failedAt + SHRINK_MS) return;
      context.progress(Math.min(++done, runs), runs);
      try {
        await fc.asyncModelRun(() => ({ model: { known: [] }, real }), commands);
        // A finding of the log check or of the doctor also fails the sequence.
        if (world.violations.any) throw new Error(world.violations.found[0]);
      } catch (error) {
        failedAt = Math.min(failedAt, Date.now());
        throw error;
      }
    },
  );
  const result = await fc.check(property, {
    seed: context.seed,
    numRuns: runs,
    endOnFailure: context.planted !== undefined,
    interruptAfterTimeLimit: atScale(context, { slice: 40, short: 900, long: 4 * 3600 }) * 1000,
  });
  if (result.failed) {
    const why =
      result.errorInstance instanceof Error ? result.errorInstance.message : String(result.errorInstance);
    world.violations.add(`${why} — after ${result.counterexample?.[0]}`);
    context.save(
      'sequence.txt',
      `${why}\n${result.counterexample?.[0]}\npath ${result.counterexamplePath}\n`,
    );
  }
  return { operations: real.operations, faults: 0, notes: [`${done} sequences`] };
}
