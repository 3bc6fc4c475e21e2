import type { Generator } from './generator.ts';
import type { BenchServer } from './postgres.ts';
import type { Worker } from './processes.ts';

export interface Bench {
  server: BenchServer;
  generator: Worker<Generator>;
  rounds: number;
  /** Shorter rounds: to see that all works, not to measure. */
  quick: boolean;
  /** Which operations the section `http` measures, by the beginning of their names, or which parts `mpc`, `feed` and `sources`; undefined: all. */
  operations: string[] | undefined;
  /** How many events the section `sources` counts; undefined: as many as usual. */
  events: number | undefined;
}
