/** A PostgreSQL server that can be killed in every way in which a server can die, and started again. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import pg from 'pg';

/** The postmaster, a backend that serves a connection, or all processes. */
export type PostgresVictim = 'postmaster' | 'backend' | 'group';

/**
 * The maximum wait for a restart. After a kill of the postmaster, its child processes end within moments. A new server
 * can start only when they have ended.
 */
const RESTART_MS = 30_000;

export class Postgres {
  private dataDir: string;
  private server: EmbeddedPostgres;
  /**
   * Increases with every kill and every call of `outOfReach`, so that concurrent work can detect that it was disturbed.
   */
  crashes = 0;
  private running = true;
  private recovering = false;
  private readonly endWithUs = () => this.killAll();

  private constructor(dataDir: string, server: EmbeddedPostgres) {
    this.dataDir = dataDir;
    this.server = server;
    process.once('exit', this.endWithUs);
  }

  static async start(dataDir: string): Promise<Postgres> {
    return new Postgres(dataDir, await startPostgres({ dataDir }));
  }

  /** True from a kill until the server serves again, and during `outOfReach`. */
  get isDown(): boolean {
    return this.recovering;
  }

  get url(): string {
    return this.server.url;
  }

  /** Opens a new connection for each query, because a pool would have to survive crashes. */
  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /**
   * Kills processes with kill -9. After the kill of a backend, the server restarts itself. After other kills, `restart`
   * starts the server.
   */
  kill(victim: PostgresVictim, pick: (pids: number[]) => number = (pids) => pids[0]!): void {
    this.crashes++;
    this.recovering = true;
    const children = childrenOf(this.server.pid);
    if (victim === 'backend') {
      const serving = children.filter((pid) => /^postgres: .*\[local\]/.test(commandOf(pid)));
      // If no backend serves a connection at this moment, the whole server is killed.
      if (serving.length > 0) {
        endNow(pick(serving));
        return;
      }
    }
    this.running = false;
    endNow(this.server.pid);
    if (victim !== 'postmaster') for (const pid of children) endNow(pid);
  }

  /** Resolves when the server serves again, whether it restarted itself or is started here. */
  async restart(): Promise<void> {
    for (const deadline = Date.now() + RESTART_MS; ; ) {
      // After the kill of a backend, the server still responds for a moment before it restarts.
      await sleep(50);
      try {
        if (!this.running) this.server = await startPostgres({ dataDir: this.dataDir });
        this.running = true;
        await this.query('SELECT 1');
        this.recovering = false;
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  /** Makes this object represent another server: a standby that was promoted after the previous server was killed. */
  become(successor: Postgres): void {
    process.off('exit', successor.endWithUs);
    this.dataDir = successor.dataDir;
    this.server = successor.server;
    this.running = true;
    this.recovering = false;
  }

  /**
   * Marks the server as unavailable during `work`, so that the doctor does not report that it cannot read the database.
   */
  async outOfReach<T>(work: () => Promise<T>): Promise<T> {
    this.crashes++;
    this.recovering = true;
    try {
      return await work();
    } finally {
      this.crashes++;
      this.recovering = false;
    }
  }

  async stop(): Promise<void> {
    process.off('exit', this.endWithUs);
    if (this.running) await this.server.stop();
  }

  private killAll(): void {
    const { pid } = this.server;
    for (const child of [pid, ...childrenOf(pid)]) endNow(child);
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: the process has already ended
  }
}

/** Lists the child processes. Each is in its own session, so a signal to a process group would not reach them. */
function childrenOf(pid: number): number[] {
  return readProc(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function commandOf(pid: number): string {
  return readProc(`${pid}/cmdline`);
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}
