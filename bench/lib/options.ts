import type { Generator } from './generator.ts';
import type { BenchServer } from './postgres.ts';
import type { Worker } from './processes.ts';

export interface Bench {
  server: BenchServer;
  generator: Worker<Generator>;
  rounds: number;
  /** Whether to run shorter rounds, which only check that everything works. Their figures mean nothing. */
  quick: boolean;
  /**
   * Selects what to measure: prefixes of operation names in the sections `http` and `rpc`, or names of parts in the
   * sections `mpc`, `feed` and `sources`. Undefined selects everything.
   */
  operations: string[] | undefined;
  /** The number of events that the section `sources` counts. Undefined means the default number of this section. */
  events: number | undefined;
}
