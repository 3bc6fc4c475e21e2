import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquireDataDirLock, type DataDirLock } from './lock.ts';
import { socketDirectory } from './socket-directory.ts';

let dataDir: string;
let locks: DataDirLock[];
let children: ChildProcess[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'mex-lock-test-'));
  [locks, children] = [[], []];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const lock of locks) await lock.release();
  rmSync(dataDir, { recursive: true });
});

async function acquire(url?: string): Promise<DataDirLock> {
  const lock = await acquireDataDirLock(dataDir, { url });
  locks.push(lock);
  return lock;
}

/** Starts another process that tries to take the lock and prints `held` or the error. */
function competitor(then = 'setInterval(() => {}, 1000)'): ChildProcess {
  const module = new URL('lock.ts', import.meta.url);
  const program = `
    import { acquireDataDirLock } from ${JSON.stringify(module)};
    await acquireDataDirLock(${JSON.stringify(dataDir)}).then(
      () => { console.log('held'); ${then} },
      (error) => console.log(error.message),
    );`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

async function holder(): Promise<ChildProcess> {
  const child = competitor();
  expect(String(await once(child.stdout!, 'data'))).toContain('held\n');
  return child;
}

async function killHolder(): Promise<void> {
  const child = await holder();
  child.kill('SIGKILL');
  await once(child, 'exit');
}

it('rejects a second holder with an error that names the first one and the possible solutions', async () => {
  await acquire('http://127.0.0.1:8080');
  await expect(acquire()).rejects.toThrow(
    `Another exchange (pid ${process.pid}, http://127.0.0.1:8080) already uses this data directory ${dataDir}. ` +
      'Stop it, or set MEX_DATA_DIR to another folder (and PORT to another port), ' +
      'or point both at one server with DATABASE_URL.',
  );
});

it('reports the pid of another process that holds the lock', async () => {
  const { pid } = await holder();
  await expect(acquire()).rejects.toThrow(`(pid ${pid})`);
});

it('can be acquired again after it was released', async () => {
  await (await acquire()).release();
  await expect(acquire()).resolves.toHaveProperty('release');
});

it('can be acquired immediately after its holder was killed', async () => {
  await killHolder();
  expect(readdirSync(join(dataDir, 'lock'))).toHaveLength(1);
  await acquire();
  expect(readdirSync(join(dataDir, 'lock'))).toHaveLength(1);
});

it('stays held by a process that is stopped and cannot respond', async () => {
  const child = await holder();
  child.kill('SIGSTOP');
  await expect(acquire()).rejects.toThrow(`(pid ${child.pid})`);
});

it('is acquired by exactly one of 20 concurrent attempts', async () => {
  await killHolder();
  for (let round = 0; round < 10; round++) {
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => acquire()));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await locks.pop()!.release();
  }
});

it('is acquired by exactly one of 6 concurrent processes after its holder was killed', async () => {
  await killHolder();
  const outputs = Array.from({ length: 6 }, () => competitor()).map((child) => once(child.stdout!, 'data'));
  const lines = (await Promise.all(outputs)).map(String);
  expect(lines.filter((line) => line === 'held\n')).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('Another exchange'))).toHaveLength(5);
});

it('waits while an earlier process is still waiting for the lock', async () => {
  await (await acquire()).release();
  const first = createServer((socket) => socket.end('{"holds":false}'));
  await once(first.listen(join(dataDir, 'lock', '9999999-00000000.sock')), 'listening');
  const lock = acquire();
  expect(await Promise.race([lock, sleep(100, 'waiting')])).toBe('waiting');
  first.close();
  await lock;
});

it('does not keep its process alive', async () => {
  expect(await text(competitor('').stdout!)).toBe('held\n');
});

it('works if the path of the data directory is too long for a socket', async () => {
  const folder = dataDir;
  dataDir = join(folder, 'long'.repeat(30));
  const lock = await acquire();
  await expect(acquire()).rejects.toThrow(`(pid ${process.pid})`);
  await lock.release();
  await acquire();

  const short = await socketDirectory(dataDir, 'lock', '', statSync(dataDir));
  expect(readdirSync(short)).toHaveLength(1);
  rmSync(short, { recursive: true });
  dataDir = folder;
});
