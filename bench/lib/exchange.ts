/** Starts exchanges as an operator would: in separate processes, which log to disk. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '@measurement-exchange/exchange/config';
import type { CredentialsJson } from '@measurement-exchange/sdk';

const CHECKOUT = join(import.meta.dirname, '../..');
const START_MS = 60_000;
/** Limits that are too high to be reached, because the benchmark measures the exchange's work and not its limits. */
const UNLIMITED = { rate: { perSecond: 1_000_000, burst: 1_000_000 }, maxOpenMeasurements: 1e9 };

export type DevParty = CredentialsJson & { token: string };

export interface DevJson {
  baseUrl: string;
  /** `host:port` of the gRPC server. */
  grpc: { address: string };
  operator: { token: string };
  rootCertificatePem: string;
  measurementConsumers: DevParty[];
  dataProviders: DevParty[];
  duchies: (DevParty & { endpoint: string })[];
}

export interface BenchExchange {
  pid: number;
  port: number;
  url: string;
  dev: DevJson;
  dataDir: string;
  /** Milliseconds from the start of the process to the first response to a caller with a token. */
  startMs: number;
  /** The URL of the inspector, if the flags contain `--inspect=0`. */
  inspectorUrl: string | undefined;
  call: (token: string, method: string, path: string, body?: unknown) => Promise<unknown>;
  stop: () => Promise<void>;
}

export interface ExchangeOptions {
  /** Default: the embedded PostgreSQL in the data directory. */
  databaseUrl?: string;
  config?: Partial<Config>;
  /** Whether to start the demo duchies too. They are child processes of the exchange. */
  duchies?: boolean;
  /**
   * An existing data directory, which remains when the exchange stops. Without this option, a new one is created, and
   * removed when the exchange stops.
   */
  dataDir?: string;
  /**
   * The data directory of another exchange on the same database. This exchange uses the parties and keys of the other.
   */
  like?: string;
  /** Flags of the node command. */
  flags?: string[];
  env?: Record<string, string>;
  /** The path of another checkout of this repository, from which to start the exchange. */
  checkout?: string;
}

export async function startExchange(options: ExchangeOptions = {}): Promise<BenchExchange> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'mex-bench-exchange-')));
  if (options.like !== undefined) {
    for (const file of ['dev.json', 'dev-root.json', 'dev-issuer.json']) {
      await cp(join(options.like, file), join(dataDir, file));
    }
  }
  const configFile = join(dataDir, 'config.json');
  await writeFile(configFile, JSON.stringify({ ...UNLIMITED, ...options.config }));
  const logFile = join(dataDir, 'exchange.out');
  const log = openSync(logFile, 'w');
  const started = performance.now();
  const mex = join(options.checkout ?? CHECKOUT, 'packages/cli/src/mex.ts');
  const child = spawn(process.execPath, [...(options.flags ?? []), mex, 'serve', '--dev', '--json'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      MEX_DUCHIES: options.duchies ? 'on' : 'off',
      MEX_AGENTS: 'off',
      MEX_DATA_DIR: dataDir,
      MEX_CONFIG: configFile,
      ...(options.databaseUrl && { DATABASE_URL: options.databaseUrl }),
      ...options.env,
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exited = once(child, 'exit');
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    process.off('exit', endWithUs);
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const output = () => readFileSync(logFile, 'utf8');
  for (; performance.now() - started < START_MS && child.exitCode === null; await sleep(5)) {
    const url = /"url":"(https?:[^"]+)"/.exec(output())?.[1];
    if (url === undefined) continue;
    const dev: DevJson = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
    const call: BenchExchange['call'] = async (token, method, path, body) => {
      const response = await fetch(`${url}/v2alpha/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    await call(dev.operator.token, 'GET', 'whoami');
    const startMs = performance.now() - started;
    const inspectorUrl = /ws:\S+/.exec(output())?.[0];
    const port = Number(new URL(url).port);
    return { pid: child.pid!, port, url, dev, dataDir, startMs, inspectorUrl, call, stop };
  }
  const printed = output();
  await stop();
  throw new Error(`The exchange did not start:\n${printed}`);
}

export function grpcPortOf({ dev }: BenchExchange): number {
  return Number(dev.grpc.address.split(':').at(-1));
}

/** The resident memory of a process in bytes: its current size and its peak. */
export function residentBytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** Returns the processor time of a process so far, in milliseconds. The kernel counts in steps of 10 ms. */
export function processorMs(pid: number): number {
  const [, user, system] = /\) \S(?: -?\d+){10} (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
  return (Number(user) + Number(system)) * 10;
}

/**
 * Returns the processor time so far of a process and its direct children, in milliseconds. Includes the children that
 * have ended.
 */
export function processorMsOfAll(pid: number): number {
  const [, user, system] = /\) \S(?: -?\d+){12} (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  const ended = (Number(user) + Number(system)) * 10;
  return children.reduce((sum, child) => sum + processorMs(Number(child)), processorMs(pid) + ended);
}
