/** A primary with a synchronous standby. Replication goes through a separate proxy. */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyCluster } from '@measurement-exchange/exchange/internal/backup/cluster';
import { Postgres } from '../world/postgres.ts';
import { targetOf } from './links.ts';
import type { ChaosProxy } from './proxy.ts';

const NAME = 'rig_standby';
const PATIENCE_MS = 60_000;

export class Pair {
  /** The server that currently serves. After a failover it is the former standby. */
  readonly primary: Postgres;
  standby!: Postgres;
  /**
   * The proxy between the exchanges and the primary. `replication` is the proxy between the primary and the standby.
   */
  private readonly database: ChaosProxy;
  readonly replication: ChaosProxy;
  private readonly home: string;
  private made = 0;
  /** Removes the folder even if the rig is stopped early. */
  private readonly removeHome = () => rmSync(this.home, { recursive: true, force: true });

  private constructor(primary: Postgres, database: ChaosProxy, replication: ChaosProxy, home: string) {
    this.primary = primary;
    this.database = database;
    this.replication = replication;
    this.home = home;
    process.once('exit', this.removeHome);
  }

  static async make(primary: Postgres, database: ChaosProxy, replication: ChaosProxy): Promise<Pair> {
    const pair = new Pair(primary, database, replication, await mkdtemp(join(tmpdir(), 'mex-rig-')));
    // Keep 512 MB of WAL, so that the standby can fall behind by this much and still catch up.
    await primary.query("ALTER SYSTEM SET wal_keep_size = '512MB'");
    await pair.addStandby();
    return pair;
  }

  /** Adds a standby that copies and follows the primary. Afterward, each COMMIT waits for this standby. */
  async addStandby(): Promise<void> {
    this.replication.target = targetOf(this.primary.url);
    const dataDir = this.folder(this.made++);
    const cluster = join(dataDir, 'pg');
    await mkdir(cluster, { recursive: true, mode: 0o700 });
    await copyCluster({ connectionString: this.primary.url }, cluster, () => {});
    const file = join(cluster, 'postgresql.auto.conf');
    const kept = (await readFile(file, 'utf8'))
      .split('\n')
      .filter(
        (line) => !/^(synchronous_standby_names|primary_conninfo|wal_retrieve_retry_interval)\b/.test(line),
      );
    const { host, port } = this.replication.address;
    const follow = `host=${host} port=${port} user=mex_owner application_name=${NAME} sslmode=disable gssencmode=disable`;
    const added = [`primary_conninfo = '${follow}'`, "wal_retrieve_retry_interval = '200ms'"];
    await writeFile(file, `${[...kept, ...added].join('\n')}\n`);
    await writeFile(join(cluster, 'standby.signal'), '');
    this.standby = await Postgres.start(dataDir);
    await this.synchronize();
  }

  /**
   * Kills the primary with kill -9, promotes the standby, and makes the proxy connect the exchanges to the promoted
   * server.
   */
  async failOver(): Promise<void> {
    this.primary.kill('group');
    await this.standby.query('SELECT pg_promote(true, 60)');
    this.database.target = targetOf(this.standby.url);
    this.primary.become(this.standby);
    // Remove the files of killed servers, which would fill the disk in a long run. The world removes the files of the
    // first server.
    if (this.made >= 2) await rm(this.folder(this.made - 2), { recursive: true, force: true, maxRetries: 5 });
  }

  /** Turns off synchronous replication, so that COMMITs no longer wait for a standby. */
  async desynchronize(): Promise<void> {
    await this.primary.query('ALTER SYSTEM RESET synchronous_standby_names');
    await this.primary.query('SELECT pg_reload_conf()');
    await this.primary.query(COMMIT_SOMETHING);
  }

  /** The number of COMMITs that wait for the standby. */
  async waiting(): Promise<number> {
    const [row] = await this.primary.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    return row!.n as number;
  }

  async cancelWaiting(): Promise<void> {
    await this.primary.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
  }

  /** Resolves when the standby has all writes that were acknowledged so far. */
  async caughtUp(): Promise<void> {
    const [now] = await this.primary.query('SELECT pg_current_wal_lsn()::text AS lsn');
    const reached = `SELECT FROM pg_stat_replication
      WHERE application_name = '${NAME}' AND sync_state = 'sync' AND flush_lsn >= $1::pg_lsn`;
    await until(
      'the standby follows',
      async () => (await this.primary.query(reached, [now!.lsn])).length > 0,
    );
  }

  async stop(): Promise<void> {
    // Stop only the standby. The world stops the server that currently serves.
    if (this.standby.url !== this.primary.url) await this.standby.stop();
  }

  /** Removes the files. Call it after the primary was stopped. */
  async clean(): Promise<void> {
    process.off('exit', this.removeHome);
    await rm(this.home, { recursive: true, force: true });
  }

  private folder(n: number): string {
    return join(this.home, `server-${n}`);
  }

  private async synchronize(): Promise<void> {
    await this.primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${NAME}'`);
    await this.primary.query('SELECT pg_reload_conf()');
    await this.caughtUp();
    // Wait until a COMMIT waits for the standby, because the server's processes apply the new setting with a delay.
    await until('COMMITs wait for the standby', async () => {
      await this.replication.impose({ kind: 'blackHole' });
      const commit = this.primary.query(COMMIT_SOMETHING);
      for (let i = 0; i < 20 && (await this.waiting()) === 0; i++) await sleep(10);
      const waits = (await this.waiting()) > 0;
      await this.replication.clear();
      await commit;
      return waits;
    });
    await this.caughtUp();
  }
}

const COMMIT_SOMETHING = "SELECT pg_logical_emit_message(true, 'rig', '')";

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; !(await isTrue()); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`Not within ${PATIENCE_MS / 1000} s: ${what}.`);
  }
}
