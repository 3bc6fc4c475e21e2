/**
 * The rig tries to break every promise of the exchange. Its parts:
 *
 * - `run.ts` is the command, and `options.ts` reads its options. The command runs the harnesses of `harnesses.ts`, two
 *   in parallel in short runs. It shows the progress, prints a table at the end (`table.ts`), saves the table's rows
 *   (`results.ts`), and prints how to replay failures. `tally.ts` lists the counts and their minimum for a whole run.
 * - A harness is a `Harness`: a function from a `Context` to an `Outcome`. All its random choices come from
 *   `context.random`, so that a seed repeats the same requests and faults. Their interleaving may still differ.
 * - Most harnesses begin with `withWorld(context, options, async (world) => …)` of `world.ts`. It starts a PostgreSQL
 *   server and one to three exchange processes. All of these processes can be killed and started again. The doctor runs
 *   about every second. Errors that it finds, tokens in a log, and 5xx responses other than 503 and 504 become
 *   violations.
 * - `traffic.ts` is the traffic during faults: several clients change the same few measurements (`measurement.ts`) at
 *   the same time. Each measurement's history is checked for linearizability (`checker.ts`) against the model
 *   (`model.ts`). A harness with faults starts the traffic, injects faults, and waits for `firstSuccess`
 *   (`recovery.ts`) after each fault. Then `settle` checks the histories. `crashes.ts` is an example.
 *   `WorldOptions.databaseUrl` and `exchangeUrl` can put a proxy in front of the database or the exchanges.
 * - `computations/` adds to the world three duchies (each with several processes), agents of providers, and a consumer
 *   (`computations/traffic.ts`) that knows the true figures. `computations/kills.ts` kills processes when a computation
 *   reaches a certain stage, and `computations/witness.ts` reads every database.
 * - A planted bug (`planted/bugs.ts`) replaces a snippet of a source file while the file is loaded: by a module hook in
 *   a `mex` process (`planted/hook.ts`), or by a plugin in a test run (`planted/session.ts`). A harness or a named test
 *   (`planted/testRun.ts`) must find the bug. If a constraint of the tables would stop the bug, the constraint is
 *   removed from the rig's database. A harness runs the same way with and without a bug, but with a bug it may stop at
 *   the first violation.
 *
 * To add a harness, add a file with an `export const h9: Harness`, and a line in `harnesses.ts`.
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
  /** The bug in the exchanges and duchies that the harness must find. Undefined in a run without a planted bug. */
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
