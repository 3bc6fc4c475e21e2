/**
 * Uses NOTIFY to tell other processes which parties have new changes. A notification is only a hint: the receiver reads
 * the log, and a periodic poll finds changes whose notification was lost.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Database, sql } from '../database/db.ts';
import type { ChangeBus } from './changeBus.ts';

const CHANNEL = 'mex_changes';
/** The minimum time between two notifications. If each commit sent a NOTIFY, commits would wait for each other. */
const NOTIFY_EVERY_MS = 10;
/** The maximum length of a notification's payload. PostgreSQL accepts less than 8,000 bytes. */
const MAX_PAYLOAD = 7_900;
const CONNECT_MS = 10_000;
const END_MS = 1_000;
const RECONNECT_MS = 500;
const ALL = '*';

const NOTIFY = sql('changes_notify', `SELECT pg_notify('${CHANNEL}', $1)`);

export class ChangeNotifier {
  private readonly db: Database;
  private readonly connection: pg.ClientConfig;
  private readonly log: Logger;
  private readonly bus: ChangeBus;
  /** Marks the notifications of this process, so that this process ignores them. */
  private readonly process = randomBytes(6).toString('hex');
  private unsent = new Set<string>();
  private sending: NodeJS.Timeout | undefined;
  private listening: pg.Client | undefined;
  private reconnecting: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(db: Database, connection: pg.ClientConfig, log: Logger, bus: ChangeBus) {
    this.db = db;
    this.connection = connection;
    this.log = log;
    this.bus = bus;
    bus.on('committed', this.notify);
  }

  async start(): Promise<void> {
    const client = new pg.Client({
      ...this.connection,
      application_name: 'mex changes',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    this.listening = client;
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    client.on('notification', ({ payload = ALL }) => this.receive(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // Notifications sent before LISTEN are lost, so any party may have new changes.
      this.bus.emit('changed', undefined);
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

  private receive(payload: string): void {
    const [from, ...parties] = payload.split(' ');
    if (from !== this.process) this.bus.emit('changed', parties.includes(ALL) ? undefined : parties);
  }

  private readonly notify = (parties: ReadonlySet<string>): void => {
    for (const party of parties) this.unsent.add(party);
    if (this.sending === undefined) this.send();
  };

  /** Notifies about the parties in `unsent`. Parties with changes in the next NOTIFY_EVERY_MS share a notification. */
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
    // If the query fails, the other processes find the changes when they poll.
    this.db.query(NOTIFY, [payload]).catch(() => {});
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.bus.off('committed', this.notify);
    clearTimeout(this.sending);
    clearTimeout(this.reconnecting);
    // An unreachable server does not confirm the end of the connection.
    await Promise.race([this.listening?.end().catch(() => {}), sleep(END_MS, undefined, { ref: false })]);
  }
}
