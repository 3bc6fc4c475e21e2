import { describe, expect, it } from 'vitest';
import type { PlantedBug } from './plant.ts';
import type { Report } from './session.ts';
import { judge } from './testRun.ts';

const bug: PlantedBug = {
  name: 'a-bug',
  edits: [{ file: 'sdk/src/a.ts', find: 'a', replace: 'b' }],
  foundBy: { file: 'sdk/src/a.test.ts' },
};

const report = (...states: [state: string, why?: string][]): Report => ({
  planted: ['sdk/src/a.ts'],
  tests: states.map(([state, why]) => ({
    title: `a test that ${state}`,
    state,
    ...(why === undefined ? {} : { why }),
  })),
  errors: ['what vitest reports of the file'],
});

describe('a run of a test with a planted bug', () => {
  it('reports the failed test', () => {
    const run = judge(bug, report(['passed'], ['failed', 'AssertionError: 1 is not 2\n at …']));
    expect(run).toEqual({ tests: 2, found: 'a test that failed: AssertionError: 1 is not 2' });
  });

  it('reports no finding if all tests passed', () => {
    expect(judge(bug, report(['passed'], ['skipped']))).toEqual({ tests: 1 });
  });

  it('throws if the bug was not planted', () => {
    expect(() => judge(bug, { ...report(['failed', 'AssertionError']), planted: [] })).toThrow(
      'not planted in sdk/src/a.ts',
    );
  });

  it('throws if no test was executed', () => {
    for (const none of [report(), report(['skipped'], ['pending'])]) {
      expect(() => judge(bug, none)).toThrow('No test was executed. what vitest reports of the file');
    }
  });

  it('throws if the planted code does not run', () => {
    const broken = report(['failed', 'ReferenceError: x is not defined']);
    expect(() => judge(bug, broken)).toThrow('The planted code does not run: ReferenceError');
  });
});
