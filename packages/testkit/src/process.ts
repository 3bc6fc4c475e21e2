/** Exchanges in processes of their own, started the way an operator starts them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '@measurement-exchange/exchange/config';
import { call, type DevJson } from './exchange.ts';

const MEX = fileURLToPath(new URL('../../cli/src/mex.ts', import.meta.url));
const START_MS = 30_000;

export interface ExchangeProcess {
  pid: number;
  url: string;
  dev: DevJson;
  dataDir: string;
  call: typeof call;
  /** Everything written to stdout and stderr so far. */
  output: () => string;
  /** Sends the signal and waits for the end; harmless on one that has ended. Resolves to its exit code. */
  kill: (signal?: NodeJS.Signals) => Promise<number | null>;
  /** Kills it at once if need be, and removes its data directory. */
  remove: () => Promise<void>;
}

export interface ProcessOptions {
  databaseUrl: string;
  /** Goes into the file of MEX_CONFIG. */
  config?: Partial<Config>;
  /** Of an earlier process, to take its place with the same parties and tokens; then give its PORT, too. */
  dataDir?: string;
  env?: Record<string, string>;
}

/** `mex serve --dev`, ready to serve. It logs warnings and errors only: a request that failed is an error. */
export async function startProcess(options: ProcessOptions): Promise<ExchangeProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'mex-process-')));
  const configFile = join(dataDir, 'config.json');
  await writeFile(configFile, JSON.stringify({ logLevel: 'warn', ...options.config }));
  const child = spawn(process.execPath, [MEX, 'serve', '--dev', '--json'], {
    // Not the environment of the tests: a variable set there would change what is tested.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      DATABASE_URL: options.databaseUrl,
      MEX_DATA_DIR: dataDir,
      MEX_CONFIG: configFile,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);

  const kill = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    const code = await exited;
    process.off('exit', endWithUs);
    return code;
  };
  try {
    const url = await ready(() => output, child);
    return {
      pid: child.pid!,
      url,
      dev: JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8')),
      dataDir,
      call: (token, method, path, body, headers) => call(token, method, `${url}${path}`, body, headers),
      output: () => output,
      kill,
      remove: async () => {
        await kill('SIGKILL');
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await kill('SIGKILL');
    throw error;
  }
}

/** The address it says it listens on, once /readyz there says yes. */
async function ready(output: () => string, child: { exitCode: number | null }): Promise<string> {
  for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(50)) {
    if (child.exitCode !== null) break;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0];
    const answer = url && (await fetch(`${url}/readyz`).catch(() => undefined));
    if (answer && answer.status === 200) return url;
  }
  throw new Error(`The exchange did not start:\n${output()}`);
}
