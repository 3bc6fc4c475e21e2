/** Waits for the result of a measurement, and prints it. */
import { isTerminal, type Measurement } from '@measurement-exchange/contract';
import {
  type Consumer,
  MeasurementFailed,
  type MeasurementResult,
  type Progress,
} from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { remote } from '../admin/command.ts';
import { printJson, visible } from '../output.ts';
import { startLive } from '../progress.ts';
import { type ActingOptions, consumerOf, withKeys } from './acting.ts';
import { nameBelow } from './command.ts';
import { comeBack, EXIT_CODES_HELP, explainEnd } from './failure.ts';
import { interruptible } from './interrupt.ts';
import { parseSeconds } from './measureRequest.ts';
import { printResult } from './report.ts';

export interface WaitingOptions extends ActingOptions {
  timeout?: number;
}

export function withTimeout(command: Command): Command {
  return command.option('--timeout <time>', 'the maximum time to wait: 90s, 5m, 1h', parseSeconds);
}

/** `mex measurements results`. */
export function resultsCommand(): Command {
  const command = remote('results <measurement>', 'decrypt, verify and print its figures');
  return withTimeout(withKeys(command))
    .option('--wait', 'wait until it is there')
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async (text: string, options: WaitingOptions & { wait?: boolean }) => {
      const { client, consumer, credentials } = await consumerOf(options);
      const name = nameBelow(credentials.name, 'measurements', text);
      if (options.wait) return showWhenDone(consumer, name, options);
      const { state } = await client.getMeasurement({ name });
      if (!isTerminal(state)) {
        throw new Error(`${name} is ${state}: there is no result yet. --wait waits for it.`);
      }
      await showResult(consumer, () => consumer.wait(name), options);
    });
}

/** Waits with a display, then shows the figures. Ctrl-C ends the wait, not the measurement. */
export async function showWhenDone(consumer: Consumer, name: string, options: WaitingOptions): Promise<void> {
  const live = startLive(name, 'Ctrl-C ends the wait, not the measurement.');
  const wait = (signal: AbortSignal) =>
    consumer
      .wait(name, {
        signal,
        onChange: (progress) => live.show(linesOf(progress)),
        ...(options.timeout !== undefined && { timeoutMs: options.timeout * 1000 }),
      })
      .finally(live.end);
  await showResult(consumer, () => interruptible(wait, comeBack(name, options)), options);
}

async function showResult(
  consumer: Consumer,
  wait: () => Promise<Measurement>,
  options: ActingOptions,
): Promise<void> {
  let result: MeasurementResult;
  try {
    result = await consumer.open(await wait());
  } catch (error) {
    // For scripts: the measurement has the reason in its fields.
    if (options.json && error instanceof MeasurementFailed) printJson(error.measurement);
    throw explainEnd(error, options);
  }
  if (options.json) printJson(result);
  else printResult(result);
}

const WORDS = {
  UNFULFILLED: '… waiting',
  FULFILLED: '✓ fulfilled',
  REFUSED: '✗ refused',
  WITHDRAWN: '– withdrawn',
} as const;

function linesOf({ requisitions }: Progress): Map<string, string> {
  return new Map(
    requisitions.map(({ dataProvider, name, state, refusal }) => {
      const why = refusal ? `: ${refusal.justification} ${refusal.message ?? ''}` : '';
      return [dataProvider ?? name!, visible(`${WORDS[state]}${why}`.trimEnd())];
    }),
  );
}
