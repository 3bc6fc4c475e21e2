/** One exchange process: `mex serve --dev`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '@measurement-exchange/exchange/config';
import type { DevJson } from '@measurement-exchange/testkit/requests';
import { MexProcess, type ProcessOptions } from './process.ts';

export interface ExchangeOptions extends Omit<ProcessOptions, 'what'> {
  dataDir: string;
  databaseUrl: string;
  config: Partial<Config>;
  env: Record<string, string>;
}

export class ExchangeProcess {
  private readonly options: ExchangeOptions;
  private readonly process: MexProcess;
  private config: Partial<Config>;
  /** The port. The system chooses it at the first start, and later starts use the same port. */
  private port = 0;
  url = '';
  dev!: DevJson;

  constructor(options: ExchangeOptions) {
    this.options = options;
    this.config = options.config;
    this.process = new MexProcess({ ...options, what: 'an exchange' });
  }

  /** Changes the configuration. The changes take effect at the next start. */
  configure(changes: Partial<Config>): void {
    this.config = { ...this.config, ...changes };
  }

  /** Starts the exchange on the same port as before, and resolves when it is ready. */
  async start(): Promise<void> {
    const { dataDir, databaseUrl, env } = this.options;
    const configFile = join(dataDir, 'config.json');
    await writeFile(configFile, JSON.stringify(this.config));
    const surroundings = {
      PORT: String(this.port),
      DATABASE_URL: databaseUrl,
      MEX_DUCHIES: 'off',
      MEX_AGENTS: 'off',
      MEX_DATA_DIR: dataDir,
      MEX_CONFIG: configFile,
      ...env,
    };
    this.url = await this.process.start(['serve', '--dev', '--json'], surroundings, async (output) => {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      const response = url && (await fetch(`${url}/readyz`).catch(() => undefined));
      return response && response.status === 200 ? url : undefined;
    });
    this.port = Number(new URL(this.url).port);
    this.dev = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get dataDir(): string {
    return this.options.dataDir;
  }

  get output(): string {
    return this.process.output;
  }

  /** Kills the process, and resolves when the process has ended. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    return this.process.kill(signal);
  }

  /** Ends the process, which is not started again. */
  end(): Promise<void> {
    return this.process.end();
  }
}
