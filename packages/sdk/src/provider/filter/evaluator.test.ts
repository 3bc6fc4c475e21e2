import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FilterError } from '../../filters/errors.ts';
import type { AttributeValue } from '../../filters/types.ts';
import { QueryStopped } from './errors.ts';
import { compile, match } from './evaluator.ts';

const attributes = { s: 'string', i: 'int' } as const;
const evaluate = (expression: string, rows: AttributeValue[][]) =>
  match({ expression, attributes }, { part: 'whole', cost: 10, rows });
/**
 * These filters pass the static limits, which assume texts of moderate length. With the long texts in these rows, SLOW
 * takes too much time, and LARGE takes too much memory.
 */
const SLOW = { expression: "s.matches('a[ab]{150}[cd]$')", row: [noise(1_000_000)] };
const LARGE = { expression: `size(${'s + '.repeat(80)} s) > 1`, row: ['x'.repeat(3_000_000)] };
const EVALUATOR = JSON.stringify(new URL('evaluator.ts', import.meta.url).href);

/**
 * Returns a pseudorandom text of the letters a and b. Matching such a text is slow, because the matcher enters a new
 * state at each letter.
 */
function noise(length: number): string {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 31 ? 'a' : 'b';
  };
  return Array.from({ length }, next).join('');
}

describe('the process that evaluates filters', () => {
  it('returns the matches of a filter, and rejects with the errors of a filter', async () => {
    expect(
      await evaluate("s == 'a' && i > 1", [
        ['a', 2n],
        ['a', 1n],
        [null, 2n],
      ]),
    ).toEqual([true, false, false]);
    await expect(compile({ expression: 'x == 1', attributes })).rejects.toMatchObject({
      code: 'FILTER_ATTRIBUTE',
    });
    const long = `s == '${'x'.repeat(40_000)}'`;
    await expect(compile({ expression: long, attributes })).rejects.toThrow('32768 characters');
    const error = await compile({ expression: "i == 'a'", attributes }).catch((e) => e);
    expect(error).toBeInstanceOf(FilterError);
    expect(error).toMatchObject({
      position: { line: 1, column: 3 },
      message: expect.stringContaining('(line 1'),
    });
  });

  it.each([
    ['too long', SLOW],
    ['too much memory', LARGE],
  ])(
    'is killed if it takes %s, without blocking this process or failing other requests',
    async (_title, { expression, row }) => {
      const began = performance.now();
      let longest = 0;
      let last = began;
      const heartbeat = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 10);
      const [hostile, other] = await Promise.all([
        evaluate(expression, [row]).catch((error) => error),
        evaluate("s == 'a'", [['a']]),
      ]);
      clearInterval(heartbeat);
      const took = performance.now() - began;
      expect(hostile).toBeInstanceOf(QueryStopped);
      expect(other).toEqual([true]);
      // If the slow filter ran in this process, it would delay the interval timer for most of the elapsed time.
      expect(longest).toBeLessThan(took / 2);
      expect(await evaluate("s == 'b'", [['a']])).toEqual([false]);
    },
  );

  it.runIf(process.platform === 'linux')(
    'exits if its parent process is killed, even during an evaluation',
    async () => {
      const program = `
      import { match } from ${EVALUATOR};
      const filter = { expression: ${JSON.stringify(SLOW.expression)}, attributes: { s: 'string' } };
      const evaluate = (text) => match(filter, { part: 'whole', cost: 1, rows: [[text]] });
      await evaluate('');
      console.log('started');
      await evaluate(${JSON.stringify(noise(1000))}.repeat(1000));`;
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(parent.stdout, 'data');
      const child = Number(readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8'));
      expect(child).toBeGreaterThan(0);
      await sleep(50);
      parent.kill('SIGKILL');
      const isAlive = () => {
        try {
          return process.kill(child, 0);
        } catch {
          return false;
        }
      };
      for (let i = 0; i < 100 && isAlive(); i++) await sleep(50);
      expect(isAlive()).toBe(false);
    },
  );

  it('does not keep its parent process alive', async () => {
    const program = `
      import { compile } from ${EVALUATOR};
      console.log((await compile({ expression: 'i > 1', attributes: { i: 'int' } })).cost > 0);`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
    ]);
    expect(stdout).toBe('true\n');
  });
});
