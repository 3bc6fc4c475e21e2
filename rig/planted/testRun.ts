/** Runs the test that is expected to find a planted bug. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Harness } from '../harness.ts';
import { emptyTally } from '../tally.ts';
import { announcement, filesOf, type NamedTest, type PlantedBug } from './plant.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const CONFIG = fileURLToPath(new URL('vitest.config.ts', import.meta.url));
const TIMEOUT_MS = 180_000;

interface TestRun {
  tests: number;
  /** The tests that failed; undefined if the bug was missed. */
  found?: string;
}

/** The part of vitest's JSON report that is read here. */
export interface Report {
  testResults: {
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

/** The test as a harness of its own. */
export function testHarness(bug: PlantedBug, test: NamedTest): Harness {
  return {
    id: 'test',
    title: test.file,
    async run() {
      const { tests, found } = await runTest(bug, test);
      return {
        operations: tests,
        faults: 0,
        violations: found === undefined ? [] : [found],
        tally: emptyTally(),
      };
    },
  };
}

/** Rejects when the run says nothing about the bug: it was not planted, or no test was executed. */
async function runTest(bug: PlantedBug, { file, name }: NamedTest): Promise<TestRun> {
  const folder = await mkdtemp(join(tmpdir(), 'mex-planted-'));
  const report = join(folder, 'report.json');
  try {
    const only = name === undefined ? [] : ['-t', name];
    const args = [
      'run',
      '--config',
      CONFIG,
      `packages/${file}`,
      ...only,
      '--reporter=json',
      `--outputFile=${report}`,
    ];
    const child = spawn(process.execPath, [VITEST, ...args], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, MEX_TEST_PLANTED_BUG: bug.name },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    });
    const endWithUs = () => child.kill('SIGKILL');
    process.once('exit', endWithUs);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    process.off('exit', endWithUs);
    const output = stdout + stderr;
    const written = await readFile(report, 'utf8').catch(() => undefined);
    if (written === undefined) throw new Error(`The test run did not end as it should:\n${output}`);
    return judge(bug, JSON.parse(written) as Report, output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Code that cannot run is a mistake in the planted bug, which any test would find. */
const BROKEN = /ReferenceError|SyntaxError|is not a function/;

export function judge(bug: PlantedBug, { testResults }: Report, output: string): TestRun {
  const missing = filesOf(bug).filter((file) => !output.includes(announcement(bug, file)));
  const messages = testResults.map(({ message }) => message).join('\n');
  if (missing.length > 0) throw new Error(`The bug was not planted in ${missing.join(', ')}: ${messages}`);
  const executed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed');
  if (executed.length === 0) throw new Error(`No test was executed. ${messages}`);
  const failed = executed.find(({ status }) => status === 'failed');
  if (failed === undefined) return { tests: executed.length };
  const [why = ''] = failed.failureMessages;
  if (BROKEN.test(why)) throw new Error(`The planted code does not run: ${why}`);
  return { tests: executed.length, found: `${failed.fullName}: ${why.split('\n')[0]}` };
}
