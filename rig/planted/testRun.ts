/** Runs the tests that are expected to find planted bugs. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Harness } from '../harness.ts';
import { emptyTally } from '../tally.ts';
import { filesOf, type PlantedBug } from './plant.ts';
import type { Report } from './session.ts';

const SESSION = fileURLToPath(new URL('session.ts', import.meta.url));
const TIMEOUT_MS = 300_000;
const STOP_MS = 30_000;

interface TestRun {
  tests: number;
  /** The failed test and its error. Undefined if no test found the bug. */
  found?: string;
}

/**
 * A process that runs one test after the other (`session.ts`). The process is started for the first test, and started
 * again if a test hangs.
 */
export class TestSession {
  private child: ChildProcess | undefined;
  private output = '';

  /** Wraps the test of this bug as a harness. */
  harnessOf(bug: PlantedBug, title: string): Harness {
    return {
      id: 'test',
      title,
      run: async () => {
        const { tests, found } = judge(bug, await this.run(bug));
        const violations = found === undefined ? [] : [found];
        return { operations: tests, faults: 0, violations, tally: emptyTally() };
      },
    };
  }

  private async run({ name }: PlantedBug): Promise<Report> {
    this.child ??= this.start();
    const { child } = this;
    const timer = setTimeout(() => giveUp(child), TIMEOUT_MS);
    const ended = new AbortController();
    const end = once(child, 'exit', { signal: ended.signal }).then(() => {
      this.child = undefined;
      throw new Error(`The test run did not end as it should:\n${this.output}`);
    });
    end.catch(() => {});
    try {
      child.send(name);
      const [{ report, error }] = await Promise.race([once(child, 'message'), end]);
      if (error !== undefined) throw new Error(error);
      return report;
    } finally {
      clearTimeout(timer);
      ended.abort();
    }
  }

  private start(): ChildProcess {
    const { PATH, HOME } = process.env;
    const child = fork(SESSION, { env: { PATH, HOME }, silent: true });
    this.output = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        this.output = (this.output + chunk).slice(-20_000);
      });
    }
    process.once('exit', () => child.kill('SIGKILL'));
    return child;
  }

  async end(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  }
}

/** Disconnects the session, so that it can stop its database before it is killed. */
function giveUp(child: ChildProcess): void {
  child.disconnect();
  setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
}

/** Errors of planted code that cannot run. Any test would find them, so they are a mistake in the planted bug. */
const BROKEN = /ReferenceError|SyntaxError|is not a function/;

/**
 * Returns the number of executed tests and the failed test. Throws if the run says nothing about the bug: the bug was
 * not planted, no test was executed, or the planted code cannot run.
 */
export function judge(bug: PlantedBug, { planted, tests, errors }: Report): TestRun {
  const missing = filesOf(bug).filter((file) => !planted.includes(file));
  const messages = errors.join('\n');
  if (missing.length > 0) throw new Error(`The bug was not planted in ${missing.join(', ')}: ${messages}`);
  const executed = tests.filter(({ state }) => state === 'passed' || state === 'failed');
  if (executed.length === 0) throw new Error(`No test was executed. ${messages}`);
  const failed = executed.find(({ state }) => state === 'failed');
  if (failed === undefined) return { tests: executed.length };
  const { title, why = '' } = failed;
  if (BROKEN.test(why)) throw new Error(`The planted code does not run: ${why}`);
  return { tests: executed.length, found: `${title}: ${why.split('\n')[0]}` };
}
