/**
 * Tells every process that shares the database that something changed for a party. A hint: whoever is told reads the log,
 * and what nobody was told of is found by a slow poll.
 */
import { randomBytes, randomInt } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Database, sql } from '../database/db.ts';

const CHANNEL = 'mex_changes';
/** Between two notifications of one process: a NOTIFY for each commit would make commits wait for each other. */
const NOTIFY_EVERY_MS = 10;
/** PostgreSQL takes less than 8,000 bytes. */
const MAX_PAYLOAD = 7_900;
const RECONNECT_MS = 500;
const ALL = '*';

const NOTIFY = sql('changes_notify', `SELECT pg_notify('${CHANNEL}', $1)`);

/** `undefined`: perhaps for every party. */
type OnWake = (parties: Iterable<string> | undefined) => void;

export class Waking {
  private readonly db: Database;
  private readonly connection: pg.ClientConfig;
  private readonly log: Logger;
  private readonly onWake: OnWake;
  /** Tells its own notifications from those of others. */
  private readonly process = randomBytes(6).toString('hex');
  private unsent = new Set<string>();
  private sending: NodeJS.Timeout | undefined;
  private listening: pg.Client | undefined;
  private reconnecting: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(db: Database, connection: pg.ClientConfig, log: Logger, onWake: OnWake) {
    this.db = db;
    this.connection = connection;
    this.log = log;
    this.onWake = onWake;
    db.onChanges = (parties) => this.changed(parties);
  }

  async start(): Promise<void> {
    const client = new pg.Client({
      ...this.connection,
      application_name: 'mex changes',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    this.listening = client;
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    client.on('notification', ({ payload = ALL }) => this.heard(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // What was said before it listened.
      this.onWake(undefined);
    } catch (error) {
      this.log.warn({ component: 'changes', reason: (error as Error).message }, 'cannot listen for changes');
      this.reconnect(client);
    }
  }

  private reconnect(client: pg.Client): void {
    if (this.stopped || this.listening !== client) return;
    this.listening = undefined;
    client.end().catch(() => {});
    this.reconnecting = setTimeout(() => this.start(), randomInt(RECONNECT_MS, 2 * RECONNECT_MS));
  }

  private heard(payload: string): void {
    const [from, ...parties] = payload.split(' ');
    if (from === this.process) return;
    this.onWake(parties.includes(ALL) ? undefined : parties);
  }

  private changed(parties: ReadonlySet<string>): void {
    this.onWake(parties);
    for (const party of parties) this.unsent.add(party);
    if (this.sending === undefined) this.send();
  }

  /** Now, and again after a while if there is more by then. */
  private send(): void {
    const { unsent } = this;
    if (unsent.size === 0) {
      this.sending = undefined;
      return;
    }
    this.unsent = new Set();
    this.sending = setTimeout(() => this.send(), NOTIFY_EVERY_MS);
    const named = [this.process, ...unsent].join(' ');
    const payload = named.length <= MAX_PAYLOAD ? named : `${this.process} ${ALL}`;
    // The poll of the others finds what was not said.
    this.db.query(NOTIFY, [payload]).catch(() => {});
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.sending);
    clearTimeout(this.reconnecting);
    await this.listening?.end().catch(() => {});
  }
}
