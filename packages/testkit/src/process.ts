/** `mex` in processes of its own, started the way an operator starts it. */
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
/** The environment of every process of a test; the compile cache halves its start. */
export const SURROUNDINGS = Object.fromEntries(
  ['PATH', 'HOME', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

/** How to start a process as another account: words before the command, or what spawn is told. */
export interface Account {
  prefix: string[];
  identity: { uid?: number; gid?: number };
}

export interface MexOptions {
  /** All that it finds in its environment beside SURROUNDINGS: a variable of the tests would change the test. */
  env?: Record<string, string>;
  cwd?: string;
  account?: Account;
  /** The program, where it is not that of this checkout. */
  mex?: string;
}

export interface MexProcess {
  pid: number;
  child: ChildProcess;
  /** Everything written to stdout and stderr so far. */
  output: () => string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
  /** Sends the signal and waits for the end; harmless on one that has ended. Resolves to its exit code or signal. */
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
  // It ends with us, also when we are interrupted.
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

/** The address that an exchange listens on, once it prints it. */
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
  /** Kills it at once if need be, and removes its data directory. */
  remove: () => Promise<void>;
}

export interface ExchangeProcessOptions extends MexOptions {
  /** Absent: the embedded PostgreSQL in the data directory. */
  databaseUrl?: string;
  /** Goes into the file of MEX_CONFIG. */
  config?: Partial<Config>;
  /**
   * The data directory of an earlier process, to replace it with the same parties and tokens; then pass its PORT,
   * too.
   */
  dataDir?: string;
}

/**
 * `mex serve --dev`, ready to serve, without the console, demo duchies and agents unless `env` has MEX_CONSOLE, MEX_DUCHIES and MEX_AGENTS. It logs
 * warnings and errors only: a request that failed is an error.
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
