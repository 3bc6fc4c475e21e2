import type { Generator } from './generator.ts';
import type { BenchServer } from './postgres.ts';
import type { Worker } from './processes.ts';

export interface Bench {
  server: BenchServer;
  generator: Worker<Generator>;
  rounds: number;
  /** Runs shorter rounds, to check that everything works instead of measuring it. */
  quick: boolean;
  /**
   * Prefixes of the operations that the section `http` measures, or parts of `mpc`, `feed` and `sources`. Undefined
   * means all.
   */
  operations: string[] | undefined;
  /** The number of events that the section `sources` counts. Undefined means its default. */
  events: number | undefined;
}
