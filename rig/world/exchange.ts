/** One exchange process, started the way an operator starts it: `mex serve --dev`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '@measurement-exchange/exchange/config';
import { SURROUNDINGS } from '@measurement-exchange/testkit/process';
import type { DevJson } from '@measurement-exchange/testkit/requests';
import type { PlantedBug } from '../planted/plant.ts';

const HOOK = new URL('../planted/hook.ts', import.meta.url).href;
const MEX = fileURLToPath(new URL('../../packages/cli/src/mex.ts', import.meta.url));
/** On two busy cores a start may take long. */
const START_MS = 60_000;
const MAX_OUTPUT = 200_000;

export interface ExchangeOptions {
  dataDir: string;
  databaseUrl: string;
  config: Partial<Config>;
  env: Record<string, string>;
  planted: PlantedBug | undefined;
  /** It ended though nobody asked it to. */
  onCrash: (why: string) => void;
  onOutput: (text: string) => void;
}

export class ExchangeProcess {
  private readonly options: ExchangeOptions;
  private child: ChildProcess | undefined;
  /** Chosen by the system at the first start, and used again at the next. */
  private port = 0;
  private log = '';
  private readonly endWithUs = () => this.child?.kill('SIGKILL');
  url = '';
  dev!: DevJson;

  constructor(options: ExchangeOptions) {
    this.options = options;
    process.once('exit', this.endWithUs);
  }

  /** Resolves when it is ready to serve; on the same port as before. */
  async start(): Promise<void> {
    const { dataDir, databaseUrl, config, env, planted, onCrash, onOutput } = this.options;
    const configFile = join(dataDir, 'config.json');
    await writeFile(configFile, JSON.stringify(config));
    const child = spawn(
      process.execPath,
      [...(planted ? ['--import', HOOK] : []), MEX, 'serve', '--dev', '--json'],
      {
        env: {
          ...SURROUNDINGS,
          PORT: String(this.port),
          DATABASE_URL: databaseUrl,
          MEX_DUCHIES: 'off',
          MEX_DATA_DIR: dataDir,
          MEX_CONFIG: configFile,
          ...env,
          ...(planted && { MEX_TEST_PLANTED_BUG: planted.name }),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.child = child;
    this.log = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        this.log = (this.log + chunk).slice(-MAX_OUTPUT);
        onOutput(String(chunk));
      });
    }
    child.once('exit', (code, signal) => {
      if (this.child === child)
        onCrash(`an exchange ended by itself (${signal ?? code}): ${this.log.slice(-500)}`);
    });
    this.url = await this.ready(child);
    this.port = Number(new URL(this.url).port);
    this.dev = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get dataDir(): string {
    return this.options.dataDir;
  }

  get output(): string {
    return this.log;
  }

  /** Resolves when it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** For good. */
  async end(): Promise<void> {
    await this.kill('SIGKILL');
    process.off('exit', this.endWithUs);
  }

  private async ready(child: ChildProcess): Promise<string> {
    for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(25)) {
      if (this.child !== child || child.exitCode !== null || child.signalCode !== null) break;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(this.log)?.[0];
      const response = url && (await fetch(`${url}/readyz`).catch(() => undefined));
      if (response && response.status === 200) return url;
    }
    throw new Error(`The exchange did not start:\n${this.log}`);
  }
}
