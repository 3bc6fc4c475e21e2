/**
 * One duchy. One process has the HTTP server and the herald, which follows the duchy's computations at the exchange.
 * The other processes run only mills, which compute the stages. All processes share the duchy's own database.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuchyRole } from '@measurement-exchange/contract';
import { Database, Secrets } from '@measurement-exchange/duchy/internal/database/index';
import { MexProcess, type ProcessOptions } from '../world/process.ts';

/** The shortest lease that the settings allow. */
export const LEASE_SECONDS = 3;

export interface DuchyOptions extends Omit<ProcessOptions, 'what'> {
  /** For example `duchies/alpha`. */
  name: string;
  role: DuchyRole;
  /** The folder with the duchy's settings. The duchy's keys are in the subfolder `identity`. */
  folder: string;
  endpoint: string;
  databaseUrl: string;
  exchangeUrl: string;
  token: string;
  /** The trusted root of each party, for example `dataProviders/streamly=root.pem`. */
  roots: string[];
  /** The number of processes that run mills. */
  mills: number;
}

export class Duchy {
  readonly name: string;
  readonly role: DuchyRole;
  /** The process that receives uploads and messages, and follows the computations at the exchange. */
  readonly face: DuchyProcess;
  readonly mills: DuchyProcess[];
  /** The rig's own connections to the duchy's database. */
  private opened: Database | undefined;
  private readonly options: DuchyOptions;

  constructor(options: DuchyOptions) {
    this.options = options;
    this.name = options.name;
    this.role = options.role;
    const named = options.name.split('/')[1];
    this.face = new DuchyProcess(options, `the face of ${named}`, 'face');
    this.mills = Array.from(
      { length: options.mills },
      (_, n) => new DuchyProcess(options, `mill process ${n + 1} of ${named}`, 'mill'),
    );
  }

  get processes(): DuchyProcess[] {
    return [this.face, ...this.mills];
  }

  async start(): Promise<void> {
    await this.configure();
    // Start all processes in parallel. The first one to reach the database creates the tables.
    await Promise.all(this.processes.map((each) => each.start()));
    this.opened = new Database({
      connection: this.connection,
      secrets: new Secrets(await this.secretsKey()),
      applicationName: 'rig',
      maxConnections: 3,
    });
  }

  get connection() {
    return { connectionString: this.options.databaseUrl };
  }

  async secretsKey(): Promise<Uint8Array> {
    return Buffer.from(await readFile(join(this.options.folder, 'secrets.key'), 'utf8'), 'base64');
  }

  /** The duchy's database, for inspection by the rig. */
  get db(): Database {
    return this.opened!;
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows of any table
  async query(text: string, values: unknown[] = []): Promise<any[]> {
    return (await this.db.pool.query(text, values)).rows;
  }

  async end(): Promise<void> {
    await Promise.all(this.processes.map((each) => each.end()));
    await this.opened?.close();
  }

  private async configure(): Promise<void> {
    const { folder, endpoint, databaseUrl, exchangeUrl, token, roots } = this.options;
    await writeFile(join(folder, 'token'), token, { mode: 0o600 });
    const settings = {
      mode: 'development',
      url: exchangeUrl,
      tokenFile: 'token',
      identity: 'identity',
      roots,
      endpoint,
      listen: { port: Number(new URL(endpoint).port) },
      databaseUrl,
      secretsKeyFile: 'secrets.key',
      mills: { count: 1, leaseSeconds: LEASE_SECONDS },
      noiseMechanisms: ['DISCRETE_GAUSSIAN', 'NONE'],
      // Keep blobs after the end of a computation, because the witness reads the sent messages again at that time.
      keepBlobsForHours: 24,
      limits: { uploads: 100, uploadsPerParty: 100, rejectedPerMinute: 1_000_000 },
      pollSeconds: 0.5,
      logLevel: 'info',
    };
    await writeFile(settingsFile(folder), JSON.stringify(settings));
  }
}

function settingsFile(folder: string): string {
  return join(folder, 'duchy.json');
}

export class DuchyProcess {
  readonly what: string;
  private readonly only: 'face' | 'mill';
  private readonly options: DuchyOptions;
  private readonly process: MexProcess;

  constructor(options: DuchyOptions, what: string, only: 'face' | 'mill') {
    this.options = options;
    this.what = what;
    this.only = only;
    this.process = new MexProcess({ ...options, what });
  }

  /**
   * Starts the process, and resolves when it reports that it runs. For the face, also waits until its HTTP server
   * responds.
   */
  async start(): Promise<void> {
    const { folder, endpoint } = this.options;
    const args = ['duchy', 'run', '--config', settingsFile(folder), '--only', this.only];
    await this.process.start(args, { MEX_DATA_DIR: folder }, async (output) => {
      if (!output.includes('"msg":"running"')) return undefined;
      if (this.only === 'mill') return true;
      const response = await fetch(`${endpoint}/healthz`).catch(() => undefined);
      return response?.ok || undefined;
    });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get readySince(): number | undefined {
    return this.process.readySince;
  }

  get output(): string {
    return this.process.output;
  }

  kill(): Promise<void> {
    return this.process.kill('SIGKILL');
  }

  end(): Promise<void> {
    return this.process.end();
  }
}
