import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLock } from './buildLock.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-lock-'));
  file = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true }));

it('takeLock returns true for one of 20 concurrent calls, and after the lock is removed', async () => {
  const taken = await Promise.all(Array.from({ length: 20 }, () => takeLock(file)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await takeLock(file)).toBe(false);
  await rm(file);
  expect(await takeLock(file)).toBe(true);
});

it('takeLock takes over the lock of an ended process immediately', async () => {
  const ended = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' });
  await writeFile(file, ended);
  expect(await takeLock(file)).toBe(true);
  expect(await readFile(file, 'utf8')).toBe(String(process.pid));
});

it('takeLock takes over the lock of a running or unknown process only when it is old', async () => {
  for (const owner of [String(process.ppid), '']) {
    await writeFile(file, owner);
    expect(await takeLock(file)).toBe(false);
    await utimes(file, new Date(), new Date(Date.now() - 600_000));
    expect(await takeLock(file)).toBe(true);
    await rm(file);
  }
});
