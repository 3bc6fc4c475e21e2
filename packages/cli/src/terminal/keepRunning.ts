/** Keeps programs of a development exchange running. Each is a `mex` process, which is restarted if it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';

/**
 * The path of the `mex` program. `process.argv[1]` may be a different program, which runs this command in its own process.
 */
const MEX = fileURLToPath(new URL(`../mex${extname(import.meta.url)}`, import.meta.url));

export interface KeptProgram {
  /** Arguments of `mex`. */
  args: string[];
  /** The absolute path of the data directory, through which the program finds the exchange. */
  dataDir: string;
  /** The file that receives everything the program prints. */
  logFile: string;
  env?: Record<string, string>;
  /** The program's description in the exchange's log, such as `a demo duchy`. `fields` identify the program there. */
  what: string;
  fields: Record<string, string>;
}

/** Starts the programs, and returns before they are ready. `stop` ends the processes. */
export function keepRunning(programs: KeptProgram[], log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const runs = programs.map((program) => keep(program, stopping.signal, log));
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(runs);
    },
  };
}

const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [500, 30_000];
/** The minimum run time after which the pause before a restart is reset to the shortest pause. */
const LASTED_MS = 60_000;
/** How long a program may take to stop before it is killed. */
const STOP_MS = 5_000;

async function keep(program: KeptProgram, signal: AbortSignal, log: Logger): Promise<void> {
  const { what, fields, logFile } = program;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    const startTime = performance.now();
    const child = launch(program);
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

function launch({ args, dataDir, logFile, env: own }: KeptProgram): ChildProcess {
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'a', 0o600);
  // Do not pass on these variables, because the program finds the exchange through the data directory.
  const { MEX_URL: _url, MEX_TOKEN: _token, ...env } = process.env;
  // Open an IPC channel. It closes when this process ends for any reason, and the program then stops.
  const child = spawn(process.execPath, [MEX, ...args], {
    env: { ...own, ...env, MEX_DATA_DIR: dataDir },
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
