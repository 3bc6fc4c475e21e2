/** Runs `mex` in separate processes, started as an operator would start them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '@measurement-exchange/exchange/config';
import { call } from './http.ts';
import type { DevJson } from './requests.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const MEX = fileURLToPath(new URL('../../cli/src/mex.ts', import.meta.url));
const START_MS = 180_000;
/** The environment of every process that tests start. The compile cache halves the start time. */
export const SURROUNDINGS = Object.fromEntries(
  ['PATH', 'HOME', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

/** How to start a process under another account: a command prefix, or a uid and gid for spawn. */
export interface Account {
  prefix: string[];
  identity: { uid?: number; gid?: number };
}

export interface MexOptions {
  /**
   * The environment of the process in addition to SURROUNDINGS. Other variables of the test process are not passed on,
   * because they could change the result.
   */
  env?: Record<string, string>;
  cwd?: string;
  account?: Account;
  /** The path of the program, if it is not the one in this checkout. */
  mex?: string;
}

export interface MexProcess {
  pid: number;
  child: ChildProcess;
  /** All output to stdout and stderr so far. */
  output: () => string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
  /**
   * Sends the signal, and waits until the process has ended. Does nothing if the process has already ended. Resolves to
   * the exit code of the process, or to the signal that ended it.
   */
  kill: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

export function spawnMex(args: string[], options: MexOptions = {}): MexProcess {
  const { prefix, identity } = options.account ?? { prefix: [], identity: {} };
  const [program, ...rest] = [...prefix, process.execPath, options.mex ?? MEX, ...args];
  const child = spawn(program!, rest, {
    ...identity,
    cwd: options.cwd ?? ROOT,
    env: { ...SURROUNDINGS, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '', all: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk) => {
      written[stream] += chunk;
      written.all += chunk;
    });
  }
  // End the child process when this process exits, even after an interrupt.
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const ended = once(child, 'close').then(([code, signal]) => {
    process.off('exit', endWithUs);
    return { code, signal, stdout: written.stdout, stderr: written.stderr };
  });
  return {
    pid: child.pid!,
    child,
    output: () => written.all,
    ended,
    kill: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const end = await ended;
      return end.code ?? end.signal;
    },
  };
}

/** Waits until the exchange prints the URL that it listens on, and returns the URL. */
export async function urlOf({ child, output }: MexProcess): Promise<string> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  for (const deadline = Date.now() + START_MS; Date.now() < deadline && !isOver(); await sleep(50)) {
    const [, logged, printed] = /"url":"([^"]+)"|is listening on (http\S+)/.exec(output()) ?? [];
    if (logged ?? printed) return (logged ?? printed)!;
  }
  throw new Error(`The exchange did not start:\n${output()}`);
}

export interface ExchangeProcess extends MexProcess {
  url: string;
  dev: DevJson;
  dataDir: string;
  call: typeof call;
  /** Kills the process if it still runs, and removes its data directory. */
  remove: () => Promise<void>;
}

export interface ExchangeProcessOptions extends MexOptions {
  /** Default: the embedded PostgreSQL in the data directory. */
  databaseUrl?: string;
  /** Written to the file that MEX_CONFIG names. */
  config?: Partial<Config>;
  /**
   * The data directory of an earlier process, so that this process has the same parties and signing key. To keep the
   * earlier tokens valid, also set PORT in `env` to the earlier port. Tokens name their issuer by a URL with the port.
   */
  dataDir?: string;
}

/**
 * Starts `mex serve --dev` and waits until it is ready. The console, demo duchies and agents are off unless `env` sets
 * MEX_CONSOLE, MEX_DUCHIES and MEX_AGENTS. The exchange logs only warnings and errors, so it logs no request that
 * succeeds.
 */
export async function startExchangeProcess(options: ExchangeProcessOptions = {}): Promise<ExchangeProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'mex-process-')));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const configFile = join(dataDir, 'config.json');
  await writeFile(configFile, JSON.stringify({ logLevel: 'warn', ...options.config }));
  const { databaseUrl } = options;
  const started = spawnMex(['serve', '--dev', '--json'], {
    ...options,
    env: {
      PORT: '0',
      MEX_DUCHIES: 'off',
      MEX_AGENTS: 'off',
      MEX_CONSOLE: 'off',
      MEX_DATA_DIR: dataDir,
      MEX_CONFIG: configFile,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...options.env,
    },
  });
  try {
    const url = await urlOf(started);
    return {
      ...started,
      url,
      dev: JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8')),
      dataDir,
      call: (token, method, path, body, headers) => call(token, method, `${url}${path}`, body, headers),
      remove: async () => {
        await started.kill('SIGKILL');
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await started.kill('SIGKILL');
    throw error;
  }
}
