import { describe, expect, it } from 'vitest';
import type { PlantedBug } from './plant.ts';
import { judge, type Report } from './testRun.ts';

const bug: PlantedBug = {
  name: 'a-bug',
  edits: [{ file: 'sdk/src/a.ts', find: 'a', replace: 'b' }],
  foundBy: { file: 'sdk/src/a.test.ts' },
};
const PLANTED = 'PLANTED BUG: a-bug in packages/sdk/src/a.ts\n';

const report = (...statuses: [status: string, why?: string][]): Report => ({
  testResults: [
    {
      message: 'what vitest reports of the file',
      assertionResults: statuses.map(([status, why]) => ({
        fullName: `a test that ${status}`,
        status,
        failureMessages: why === undefined ? [] : [why],
      })),
    },
  ],
});

describe('a run of a test with a planted bug', () => {
  it('has found it when a test failed', () => {
    const run = judge(bug, report(['passed'], ['failed', 'AssertionError: 1 is not 2\n at …']), PLANTED);
    expect(run).toEqual({ tests: 2, found: 'a test that failed: AssertionError: 1 is not 2' });
  });

  it('has missed it when all tests passed', () => {
    expect(judge(bug, report(['passed'], ['skipped']), PLANTED)).toEqual({ tests: 1 });
  });

  it('is an error when the bug was not planted', () => {
    expect(() => judge(bug, report(['failed', 'AssertionError']), '')).toThrow('not planted in sdk/src/a.ts');
  });

  it('is an error when no test was executed', () => {
    for (const none of [report(), report(['skipped'], ['pending'])]) {
      expect(() => judge(bug, none, PLANTED)).toThrow(
        'No test was executed. what vitest reports of the file',
      );
    }
  });

  it('is an error when the planted code does not run', () => {
    const broken = report(['failed', 'ReferenceError: x is not defined']);
    expect(() => judge(bug, broken, PLANTED)).toThrow('The planted code does not run: ReferenceError');
  });
});
