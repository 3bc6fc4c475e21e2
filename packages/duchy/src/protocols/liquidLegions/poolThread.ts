/** The code of the threads that `Pool` starts. Each thread runs one operation at a time. */
import { parentPort, type Transferable } from 'node:worker_threads';
import { LiquidLegionsError } from '@measurement-exchange/mpc/protocols/liquidLegions/errors';
import {
  type Input,
  type OperationName,
  type Output,
  operations,
} from '@measurement-exchange/mpc/protocols/liquidLegions/operations';
import { Workspace } from '@measurement-exchange/mpc/protocols/liquidLegions/workspace';
import { ElGamalError, PointError } from '@measurement-exchange/mpc/sketches';
import type { Answer, Call } from './pool.ts';

const workspace = new Workspace();

parentPort!.on('message', ({ operation, input }: Call) => {
  const answer = answerTo(operation, input);
  parentPort!.postMessage(answer, 'output' in answer ? buffersOf(answer.output) : []);
});

function answerTo(operation: OperationName, input: Input<OperationName>): Answer {
  try {
    const run = operations[operation] as (
      workspace: Workspace,
      input: Input<OperationName>,
    ) => Output<OperationName>;
    return { output: run(workspace, input) };
  } catch (error) {
    const isLie = [LiquidLegionsError, PointError, ElGamalError].some((type) => error instanceof type);
    return { problem: error instanceof Error ? error.message : String(error), isLie };
  }
}

/** Returns the output's buffers, so that they can be transferred to the caller without copying. */
function buffersOf(output: unknown): Transferable[] {
  const arrays = ArrayBuffer.isView(output) ? [output] : Object.values(Object(output));
  return arrays.flatMap((array) =>
    ArrayBuffer.isView(array) && array.byteLength === array.buffer.byteLength
      ? [array.buffer as ArrayBuffer]
      : [],
  );
}
