/** Runs the demo duchies of a development exchange. Each runs in its own process, which is restarted if it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';

/** The path of the `mex` program. `process.argv[1]` may be another program, which runs this command itself. */
const MEX = fileURLToPath(new URL(`../mex${extname(import.meta.url)}`, import.meta.url));

/**
 * Starts the named duchies (`duchies/…`) for the exchange that uses this data directory, and returns before they are ready.
 * Measurements wait until they are. `stop` ends the processes.
 */
export function startDemoDuchies({ dataDir, names, log }: { dataDir: string; names: string[]; log: Logger }) {
  const stopping = new AbortController();
  const runs = names.map((name) => keepRunning(name, resolve(dataDir), stopping.signal, log));
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(runs);
    },
  };
}

/**
 * Environment variables for duchies. With a single arena, glibc reuses memory across threads, which saves 60 MB in a worker
 * with 10,000,000 people.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1' };

const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [500, 30_000];
/** If a duchy ran for at least this long, the next restart comes after the shortest pause. */
const LASTED_MS = 60_000;
/** How long a duchy may take to stop before it is killed. */
const STOP_MS = 5_000;

async function keepRunning(name: string, dataDir: string, signal: AbortSignal, log: Logger): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    const startTime = performance.now();
    const { child, logFile } = launch(name, dataDir);
    const end = () => void endChild(child);
    signal.addEventListener('abort', end);
    const reason = await once(child, 'exit').then(
      ([code, killedBy]) => killedBy ?? `exit code ${code}`,
      (error: Error) => error.message,
    );
    signal.removeEventListener('abort', end);
    if (performance.now() - startTime > LASTED_MS) pauseMs = FIRST_PAUSE_MS;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    log.warn({ component: 'duchy', duchy: name, reason, logFile }, 'a demo duchy ended: starting it again');
  }
}

function launch(name: string, dataDir: string): { child: ChildProcess; logFile: string } {
  const folder = join(dataDir, 'duchies', name.split('/')[1]!);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const logFile = join(folder, 'duchy.log');
  const log = openSync(logFile, 'a', 0o600);
  // Do not pass on these variables, because the duchy finds the exchange through the data directory.
  const { MEX_URL: _url, MEX_TOKEN: _token, ...env } = process.env;
  // Open an IPC channel. It closes when this process ends for any reason, and the duchy then stops.
  const child = spawn(process.execPath, [MEX, 'duchy', 'run', '--as', name], {
    env: { ...ALLOCATOR, ...env, MEX_DATA_DIR: dataDir },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  return { child, logFile };
}

async function endChild(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await sleep(STOP_MS, undefined, { ref: false });
  child.kill('SIGKILL');
}
