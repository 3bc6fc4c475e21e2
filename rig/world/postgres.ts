/** A PostgreSQL server that can be killed in every way a server dies, and started again. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import pg from 'pg';

/** The server's first process, one that serves a connection, or all of them at once. */
export type PostgresVictim = 'postmaster' | 'backend' | 'group';

/** A killed server's children leave by themselves within moments; until then no new one may start. */
const RESTART_MS = 30_000;

export class Postgres {
  private dataDir: string;
  private server: EmbeddedPostgres;
  /** Rises with every kill: work that was under way can tell that it was disturbed. */
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

  /** From a kill until it serves again. */
  get isDown(): boolean {
    return this.recovering;
  }

  get url(): string {
    return this.server.url;
  }

  /** On a connection of its own: a pool would have to outlive crashes. */
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

  /** kill -9. After that of a backend the server restarts itself; after the others `restart` does. */
  kill(victim: PostgresVictim, pick: (pids: number[]) => number = (pids) => pids[0]!): void {
    this.crashes++;
    this.recovering = true;
    const children = childrenOf(this.server.pid);
    if (victim === 'backend') {
      const serving = children.filter((pid) => /^postgres: .*\[local\]/.test(commandOf(pid)));
      // Between two connections no such process exists: then the whole server is killed.
      if (serving.length > 0) {
        endNow(pick(serving));
        return;
      }
    }
    this.running = false;
    endNow(this.server.pid);
    if (victim !== 'postmaster') for (const pid of children) endNow(pid);
  }

  /** Resolves when it serves again, no matter which process started it. */
  async restart(): Promise<void> {
    for (const deadline = Date.now() + RESTART_MS; ; ) {
      // After the kill of a backend the server responds for a moment before it restarts itself.
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

  /** Another server stands here from now on: a standby that was promoted when this one was killed. */
  become(successor: Postgres): void {
    process.off('exit', successor.endWithUs);
    this.dataDir = successor.dataDir;
    this.server = successor.server;
    this.running = true;
    this.recovering = false;
  }

  /** While this lasts the doctor does not report that it cannot look. */
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
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it ended just now
  }
}

/** Each is in a session of its own, so that no signal to a group reaches them. */
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
