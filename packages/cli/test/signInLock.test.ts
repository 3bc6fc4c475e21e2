import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withLock } from '../src/signIn/lock.ts';

let folder: string;
const path = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-lock-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('withLock', () => {
  it('runs concurrent work one after another, and continues after an error', async () => {
    let running = 0;
    const works = Array.from({ length: 8 }, (_, i) =>
      withLock(path('one.lock'), async () => {
        expect(++running).toBe(1);
        await sleep(5);
        running--;
        if (i === 0) throw new Error('failed');
        return i;
      }),
    );
    const results = await Promise.allSettled(works);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(results[7]).toEqual({ status: 'fulfilled', value: 7 });
  });

  it('waits for another process, and gets the lock as soon as that process is killed', async () => {
    const lock = JSON.stringify(import.meta.resolve('../src/signIn/lock.ts'));
    const script = `const { withLock } = await import(${lock});
      await withLock(${JSON.stringify(path('two.lock'))}, () => {
        console.log('held');
        return new Promise((resolve) => setTimeout(resolve, 1e6));
      });`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    let hasLock = false;
    const waiting = withLock(path('two.lock'), async () => {
      hasLock = true;
    });
    await sleep(200);
    expect(hasLock).toBe(false);
    holder.kill('SIGKILL');
    await waiting;
    expect(hasLock).toBe(true);
  });
});
