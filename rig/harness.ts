/**
 * The rig tries to break every promise of the exchange. How it is put together:
 *
 * - `run.ts` is the command (`options.ts`). It runs the harnesses of `harnesses.ts`, in short runs two at a time, shows progress
 *   and a closing table (`table.ts`), saves its rows (`results.ts`), and prints how to replay what failed. `tally.ts` lists
 *   what is counted, and how much of it a whole run must reach.
 * - A harness is a `Harness`: it is given a `Context` and returns an `Outcome`. Whatever it draws comes from
 *   `context.random`, so that a seed repeats the same requests and faults; how they interleave is up to the machine.
 * - Most harnesses begin with `withWorld(context, options, async (world) => …)` of `world.ts`: a PostgreSQL server of
 *   its own and three exchange processes over it, all of which can be killed and started again, with the doctor
 *   running every second. Findings of the doctor, a log with a token in it, and 5xx responses are added to the
 *   violations.
 * - `traffic.ts` is the traffic under which faults happen: clients on hot measurements (`measurement.ts`), each
 *   history checked for linearizability (`checker.ts`) against the model (`model.ts`). A harness of faults starts it,
 *   makes its faults, waits for `firstSuccess` (`recovery.ts`) after each, and lets it settle: `crashes.ts` is the
 *   pattern. `WorldOptions.databaseUrl` and `exchangeUrl` put something between the exchanges and their database,
 *   or between callers and exchanges.
 * - `computations/` adds three duchies to the world, each of several processes, with agents of providers and a consumer
 *   (`traffic.ts`) whose figures are known; `kills.ts` kills at a stage, and `witness.ts` looks into every database.
 * - A planted bug (`planted/bugs.ts`) replaces a snippet of a source file while it is loaded: by a module hook in an
 *   exchange process (`planted/hook.ts`), or by a plugin in a test run (`planted/session.ts`). It is found by a
 *   harness or by a named test (`planted/testRun.ts`). Where the tables would stop the bug, a guard is removed from the
 *   rig's own database. A harness runs the same with and without a bug; with one it may stop at the first violation.
 *
 * To add a harness: a file with an `export const h9: Harness`, and its line in `harnesses.ts`.
 */
import type { PlantedBug } from './planted/plant.ts';
import type { Random } from './random.ts';
import type { Scale, Tally } from './tally.ts';

export type { Scale } from './tally.ts';

export interface Harness {
  /** For example `H2`. */
  id: string;
  title: string;
  run(context: Context): Promise<Outcome>;
}

export interface Context {
  seed: number;
  random: Random;
  scale: Scale;
  /** The bug that the exchanges are started with. The harness is expected to find it. */
  planted: PlantedBug | undefined;
  progress(done: number, total: number): void;
  /** Saves data that explains a violation as `rig/out/<harness>-<seed>/<file>`. */
  save(file: string, value: unknown): void;
}

export interface Outcome {
  /** The number of checked operations. */
  operations: number;
  faults: number;
  /** One sentence per violation. The list is empty for a healthy exchange. */
  violations: string[];
  tally: Tally;
  /** How often the doctor checked the database. */
  doctorRuns?: number;
  /** Notes for the user, which are printed below the table. */
  notes?: string[];
}

/** Returns the figure for the scale of the run. */
export function atScale<T>(context: Pick<Context, 'scale'>, figures: Record<Scale, T>): T {
  return figures[context.scale];
}

/** The maximum number of violations that are kept, because further ones add no information. */
const MAX_VIOLATIONS = 50;

/** The violations so far. Identical sentences are stored once. */
export class Violations {
  readonly found: string[] = [];
  private readonly seen = new Set<string>();

  add(violation: string): void {
    if (this.seen.has(violation) || this.found.length >= MAX_VIOLATIONS) return;
    this.seen.add(violation);
    this.found.push(violation);
  }

  get any(): boolean {
    return this.found.length > 0;
  }
}
