/**
 * Runs operations in this thread instead of worker threads, for two reasons. First, small computations do not wait for
 * threads to start. Second, the bugs of rig/planted, which are added to the code on purpose, take effect. Worker
 * threads would load the source files without these bugs.
 */
import {
  type Input,
  type OperationName,
  type Output,
  operations,
} from '@measurement-exchange/mpc/protocols/liquidLegions/operations';
import type { Executor } from '@measurement-exchange/mpc/protocols/liquidLegions/stageWork';
import { Workspace } from '@measurement-exchange/mpc/protocols/liquidLegions/workspace';

export class InProcess implements Executor {
  readonly size = 1;
  private readonly workspace = new Workspace();

  async run<O extends OperationName>(operation: O, input: Input<O>): Promise<Output<O>> {
    const run = operations[operation] as (workspace: Workspace, input: Input<O>) => Output<O>;
    return run(this.workspace, input);
  }
}
