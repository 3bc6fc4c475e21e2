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
   * Selects what to measure: prefixes of operations in the sections `http` and `rpc`, or parts of the sections `mpc`,
   * `feed` and `sources`. Undefined selects everything.
   */
  operations: string[] | undefined;
  /** The number of events that the section `sources` counts. Undefined means its default. */
  events: number | undefined;
}
