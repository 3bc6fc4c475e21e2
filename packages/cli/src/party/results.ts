/** Waits for a measurement's result and prints it. */
import { isTerminal, type Measurement } from '@measurement-exchange/contract';
import {
  type Consumer,
  MeasurementFailed,
  type MeasurementResult,
  type Progress,
} from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { nameBelow } from '../calls/caller.ts';
import { remote } from '../calls/command.ts';
import { type ActingOptions, consumerOf, withKeys } from '../calls/keys.ts';
import { Failed, note, printJson, visible } from '../terminal/output.ts';
import { startLive } from '../terminal/progress.ts';
import { comeBack, EXIT, EXIT_CODES_HELP, explainEnd, explainLostWait } from './failure.ts';
import { parseSeconds, readRequestFile } from './measureRequest.ts';
import { withQuestion } from './questions.ts';
import { printResult, type TitledResult } from './report.ts';
import { duchiesOf } from './spec.ts';
import { latestReports } from './timeline.ts';

export interface WaitingOptions extends ActingOptions {
  timeout?: number;
}

export function withTimeout(command: Command): Command {
  return command.option('--timeout <time>', 'the maximum time to wait: 90s, 5m, 1h', parseSeconds);
}

export function resultsCommand(): Command {
  const command = remote('results <measurement>', 'decrypt, verify and print its figures');
  return withTimeout(withKeys(command))
    .option('--wait', 'wait until it is there')
    .option(
      '--spec <file>',
      'the request it was made from, as mex measure … --dry-run prints it: no other measurement is opened',
    )
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async (text: string, options: WaitingOptions & { wait?: boolean; spec?: string }) => {
      const { client, consumer, credentials } = await consumerOf(options);
      const name = nameBelow(credentials.name, 'measurements', text);
      const request = options.spec === undefined ? undefined : await readRequestFile(options.spec);
      const open = async (measurement: Measurement) =>
        titled(consumer, measurement, await consumer.open(measurement, { ...(request && { request }) }));
      if (options.wait) return showWhenDone(consumer, name, options, open);
      const { state } = await client.getMeasurement({ name });
      if (!isTerminal(state)) {
        throw new Error(`${name} is ${state}: there is no result yet. --wait waits for it.`);
      }
      await showResult(async () => open(await consumer.wait(name)), options);
    });
}

/**
 * Adds the title from the measurement's stored question to the result. If the question fails verification, prints a
 * note instead.
 */
async function titled(
  consumer: Consumer,
  measurement: Measurement,
  result: MeasurementResult,
): Promise<TitledResult> {
  const { question, questionError } = await withQuestion(consumer, measurement);
  if (questionError) note(visible(`${questionError.message} (${questionError.code})`));
  return { ...result, ...(question?.title && { title: question.title }) };
}

/** Shows progress until the measurement ends, and then the result that `open` returns. Ctrl-C ends only the wait. */
export async function showWhenDone(
  consumer: Consumer,
  name: string,
  options: WaitingOptions,
  open: (measurement: Measurement) => Promise<TitledResult>,
): Promise<void> {
  const live = startLive(name, 'Ctrl-C ends the wait, not the measurement.');
  let lines = new Map<string, string>();
  const notes = new Map<string, string>();
  const show = () => live.show(new Map([...lines, ...notes]));
  const wait = (signal: AbortSignal) =>
    consumer
      .wait(name, {
        signal,
        onChange: (progress) => {
          lines = linesOf(progress);
          show();
        },
        onPolling: (why) => {
          notes.set('changes', `cannot be followed; the exchange is polled: ${visible(why)}`);
          show();
        },
        onFollowing: () => {
          notes.delete('changes');
          show();
        },
        ...(options.timeout !== undefined && { timeoutMs: options.timeout * 1000 }),
      })
      .catch((error) => {
        throw explainLostWait(error, name, options);
      })
      .finally(live.end);
  await showResult(async () => open(await interruptible(wait, comeBack(name, options))), options);
}

/** Runs `work`. Ctrl-C aborts it, and the resulting error contains the advice in `whatNow`. */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  whatNow: string,
): Promise<T> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    return await work(interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) throw new Failed(EXIT.interrupted, `interrupted. ${whatNow}`);
    throw error;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

async function showResult(read: () => Promise<TitledResult>, options: ActingOptions): Promise<void> {
  let result: TitledResult;
  try {
    result = await read();
  } catch (error) {
    // Print the failed measurement, because scripts can read the reason from its fields.
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

function linesOf({ measurement, requisitions, reports }: Progress): Map<string, string> {
  const lines = new Map(
    requisitions.map(({ dataProvider, name, state, refusal }) => {
      const why = refusal ? `: ${refusal.justification} ${refusal.message ?? ''}` : '';
      return [dataProvider ?? name!, visible(`${WORDS[state]}${why}`.trimEnd())];
    }),
  );
  const [aggregator] = duchiesOf(measurement.protocolConfig);
  if (aggregator !== undefined && measurement.state === 'COMPUTING') {
    if (reports.length === 0) lines.set(aggregator, '… computing');
    for (const [duchy, report] of latestReports(reports)) lines.set(duchy, `… ${report}`);
  }
  if (aggregator !== undefined && measurement.state === 'SUCCEEDED') lines.set(aggregator, '✓ computed');
  return lines;
}
