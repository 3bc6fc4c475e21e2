/** Keeps programs of a development exchange running. Each is a `mex` process, which is restarted if it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';

/**
 * The path of the `mex` program. `process.argv[1]` may be a different path, because another program may run this code.
 */
const MEX = fileURLToPath(new URL(`../mex${extname(import.meta.url)}`, import.meta.url));

interface KeptProgram {
  args: string[];
  /** The path of the log, relative to the data directory. */
  logFile: string;
  /**
   * The program's description in the exchange's log, such as `a demo duchy`. `fields` are log fields that identify
   * the program.
   */
  what: string;
  fields: Record<string, string>;
}

/**
 * Environment variables of the programs. With a single arena, glibc reuses memory across threads. This saves 60 MB in a
 * duchy that counts 10,000,000 people in the role of a worker.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1' };

/**
 * Starts the programs, and returns before they are ready. They find the exchange through its data directory. `stop`
 * ends the processes.
 */
export function keepRunning(
  programs: KeptProgram[],
  { dataDir, log }: { dataDir: string; log: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const home = resolve(dataDir);
  const runs = programs.map((program) => keep(program, home, stopping.signal, log));
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(runs);
    },
  };
}

const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [500, 30_000];
/** If a program ran for longer than this, the next restart uses the shortest pause again. */
const LASTED_MS = 60_000;
const STOP_MS = 5_000;

async function keep(program: KeptProgram, home: string, signal: AbortSignal, log: Logger): Promise<void> {
  const { args, what, fields } = program;
  const logFile = join(home, program.logFile);
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    const startTime = performance.now();
    const child = launch(args, home, logFile);
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
    log.warn({ ...fields, reason, logFile }, `${what} ended: starting it again`);
  }
}

function launch(args: string[], dataDir: string, logFile: string): ChildProcess {
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'a', 0o600);
  // Do not pass on these variables, because the program finds the exchange through the data directory.
  const { MEX_URL: _url, MEX_TOKEN: _token, ...env } = process.env;
  // Open an IPC channel. When this process ends for any reason, the channel closes, and the program stops.
  const child = spawn(process.execPath, [MEX, ...args], {
    env: { ...ALLOCATOR, ...env, MEX_DATA_DIR: dataDir },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  return child;
}

async function endChild(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await sleep(STOP_MS, undefined, { ref: false });
  child.kill('SIGKILL');
}
