/**
 * `mex report run`: creates the measurements that the report still needs, waits for their results, and prints the
 * report.
 */
import { FilterRejected, type ReportAnswer, type ReportProgress } from '@measurement-exchange/sdk';
import type { Command } from 'commander';
import { nextCommand } from '../calls/caller.ts';
import { remote } from '../calls/command.ts';
import { type ActingOptions, withKeys } from '../calls/keys.ts';
import { filterText } from '../party/plan.ts';
import { interruptible } from '../party/results.ts';
import { Failed, note, printJson, visible } from '../terminal/output.ts';
import { startLive } from '../terminal/progress.ts';
import { actingConsumer, definitionOf } from './choose.ts';
import { printReport } from './print.ts';

interface RunCommandOptions extends ActingOptions {
  watch?: boolean;
}

export function runCommand(): Command {
  const description = 'ask what has no answer yet, wait, and print the report';
  return withKeys(remote('run [definition]', description))
    .option('--watch', 'for a campaign that is not over: run again whenever another period is complete')
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, options: RunCommandOptions) => {
      const acting = await actingConsumer(options);
      const { reports } = acting.consumer;
      const definition = await definitionOf(acting, file);
      const { name } = await reports.create(definition);
      const again = nextCommand(options, `report run ${name}${options.watch ? ' --watch' : ''}`, options);
      let answer: ReportAnswer | undefined;
      await interruptible(async (signal) => {
        const progress = showProgress(name);
        const running = { signal, onProgress: progress.show };
        const answers = options.watch ? reports.watch(name, running) : once(reports.run(name, running));
        try {
          for await (answer of answers) {
            progress.pause();
            show(answer, options);
            if (options.watch && answer.needs.some(({ state }) => state === 'NOT_DUE')) note(WATCHING);
          }
        } finally {
          progress.pause();
        }
      }, `Its measurements continue. To go on: ${again}`).catch((error: unknown) => {
        throw error instanceof FilterRejected ? new Error(filterText(error)) : error;
      });
      note(
        `A page of it: ${nextCommand(options, `report export ${name} --format html --output report.html`, options)}`,
      );
      requireFigures(answer!, again);
    });
}

const WATCHING =
  'Waiting for the rest, which is asked once its days are over and their events are there. Ctrl-C ends the wait.';

const HELP = `
The definition is a file of YAML or JSON, the name of a report, or nothing: then all of your event groups are reported, as
mex report define writes them. The same definition is the same report: a second run asks nothing that is answered, and
continues what Ctrl-C interrupted. Measurements that failed are asked again. A period that is not over is not asked.

Exit codes:
  0    every figure that can be known now was printed
  1    something is wrong with the command, the definition, the keys or the exchange
  2    figures are missing because measurements failed, or the answers contradict each other: all of it was printed
  130  interrupted; the measurements continue, and the same command goes on`;

async function* once<T>(value: Promise<T>): AsyncGenerator<T> {
  yield await value;
}

function show({ document, stored }: ReportAnswer, { json }: ActingOptions): void {
  if (json) printJson({ name: stored.name, ...document });
  else printReport(document, stored.name);
}

/**
 * Throws if a figure is missing although its period is complete, or if the measurements' results contradict each other.
 */
function requireFigures({ document, needs }: ReportAnswer, again: string): void {
  const failed = needs.filter(({ state }) => state !== 'SUCCEEDED' && state !== 'NOT_DUE');
  if (failed.length > 0)
    throw new Failed(2, `Figures are missing, for the reasons above. To ask again: ${again}`);
  if (document.state !== 'INCONSISTENT') return;
  throw new Failed(2, 'The answers contradict each other, as said above: the figures are a compromise.');
}

const WORDS: Record<string, string> = {
  SUCCEEDED: '✓ answered',
  FAILED: '✗ failed',
  CANCELLED: '– cancelled',
  REJECTED: '✗ rejected',
  NOT_CREATED: '✗ not created',
  NOT_DUE: '– not yet',
  NOT_ASKED: '  waits for its turn',
};

/**
 * Returns a display of the state of each measurement in the report. `pause` ends the display, and the next call of
 * `show` starts it again.
 */
function showProgress(name: string) {
  let live: ReturnType<typeof startLive> | undefined;
  return {
    show({ answered, total, measurements }: ReportProgress): void {
      live ??= startLive(name, 'Ctrl-C ends the wait; the same command continues.');
      const lines = measurements.map(
        ({ title, state }) => [visible(title), WORDS[state] ?? '… measuring'] as const,
      );
      live.show(new Map([...lines, ['answered', `${answered} of ${total}`]]));
    },
    pause(): void {
      live?.end();
      live = undefined;
    },
  };
}
