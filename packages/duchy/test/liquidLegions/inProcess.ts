/** Does in this thread what threads do: small computations wait for none to start, and planted bugs are in what they run. */
import {
  type Input,
  type OperationName,
  type Output,
  operations,
} from '../../src/liquidLegions/operations.ts';
import { Pool } from '../../src/liquidLegions/pool.ts';
import { Workspace } from '../../src/liquidLegions/workspace.ts';

export class InProcess extends Pool {
  private readonly workspace = new Workspace();

  constructor() {
    super(1);
  }

  override async run<O extends OperationName>(operation: O, input: Input<O>): Promise<Output<O>> {
    const run = operations[operation] as (workspace: Workspace, input: Input<O>) => Output<O>;
    return run(this.workspace, input);
  }
}
