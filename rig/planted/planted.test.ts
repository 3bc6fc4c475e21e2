import { spawnSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { SURROUNDINGS } from '@measurement-exchange/testkit/process';
import { describe, expect, it } from 'vitest';
import { HARNESSES } from '../harnesses.ts';
import { PLANTED_BUGS } from './bugs.ts';
import { filesOf, plant, readSource } from './plant.ts';

describe('a planted bug', () => {
  for (const bug of PLANTED_BUGS) {
    it(`${bug.name} matches the current sources`, () => {
      for (const file of filesOf(bug)) {
        const source = readSource(file);
        const planted = plant(bug, file, source);
        expect(planted).not.toBe(source);
        expect(() => stripTypeScriptTypes(planted), file).not.toThrow();
      }
    });

    it(`${bug.name} names a harness or a test that exists`, () => {
      const { foundBy } = bug;
      if (typeof foundBy === 'string') expect(HARNESSES.map(({ id }) => id)).toContain(foundBy);
      else expect(readSource(foundBy.file)).toContain(foundBy.name ?? '');
    });
  }

  it('has a unique name', () => {
    const names = PLANTED_BUGS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('planting', () => {
  const bug = { name: 'a-bug', edits: [{ file: 'a.ts', find: 'f(a, b);', replace: 'g();' }], foundBy: 'H1' };

  it('replaces the snippet regardless of its indentation', () => {
    expect(plant(bug, 'a.ts', 'x;\n  f(a,\n    b);\ny;')).toBe('x;\n  g();\ny;');
  });

  it('does not change other files', () => {
    expect(plant(bug, 'b.ts', 'nothing')).toBe('nothing');
  });

  it('throws if the snippet is missing', () => {
    expect(() => plant(bug, 'a.ts', 'nothing')).toThrow(
      'a-bug: expected once in packages/a.ts, found 0 times',
    );
  });

  it('throws if the snippet occurs more than once', () => {
    expect(() => plant(bug, 'a.ts', 'f(a, b); f(a, b);')).toThrow('found 2 times');
  });
});

describe('the hook', () => {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const run = (bug: string) =>
    spawnSync(
      process.execPath,
      [
        '--import',
        at('hook.ts'),
        '-e',
        `import('${new URL('../../packages/exchange/src/domain/measurement.ts', import.meta.url).href}')
        .then(({ etagOf }) => console.log(etagOf({ id: 'a', version: 1, updateTime: '' }) === etagOf({ id: 'a', version: 2, updateTime: '' })))`,
      ],
      { encoding: 'utf8', env: { ...SURROUNDINGS, MEX_TEST_PLANTED_BUG: bug } },
    );

  it('plants the bug in the process, and logs it', () => {
    const { stdout, stderr, status } = run('etag-from-time');
    expect({ stdout, status }).toEqual({ stdout: 'true\n', status: 0 });
    expect(stderr).toContain('PLANTED BUG: etag-from-time in packages/exchange/src/domain/measurement.ts');
  });

  it('exits with status 1 if the bug is unknown', () => {
    const { stdout, stderr, status } = run('etag-from-rhyme');
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain('There is no bug etag-from-rhyme, only no-parent-lock, ');
  });
});
