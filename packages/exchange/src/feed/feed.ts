/** Lets callers follow a party's change log. A follower waits until the party's next change is readable. */
import { type ChangePage, horizon, movedOn, type Position, readChanges } from '../database/changes.ts';
import type { Database } from '../database/db.ts';
import type { ChangeBus } from './changeBus.ts';
import { Horizon } from './horizon.ts';
import { Tail } from './tail.ts';

/** The time between polls. A poll finds changes whose notification was lost. One query covers all followed parties. */
const POLL_MS = 2_000;

export class Feed {
  readonly stopping: AbortSignal;
  followers = 0;
  private readonly db: Database;
  private readonly bus: ChangeBus;
  private readonly horizon: Horizon;
  private readonly tails = new Map<string, Tail>();
  private readonly open = new Map<string, number>();
  private readonly stopper = new AbortController();
  private readonly poll: NodeJS.Timeout;
  private isPolling = false;

  constructor(db: Database, bus: ChangeBus) {
    this.db = db;
    this.bus = bus;
    bus.on('changed', this.wake);
    this.horizon = new Horizon(async () => (await horizon(db)).xid);
    this.stopping = this.stopper.signal;
    this.poll = setInterval(() => void this.pollTails(), POLL_MS);
  }

  followersOf(party: string): number {
    return this.open.get(party) ?? 0;
  }

  private readonly wake = (parties?: Iterable<string>): void => {
    for (const party of parties ?? this.tails.keys()) this.tails.get(party)?.wake();
  };

  waitReadable(xid: string, maxMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, maxMs);
      this.horizon.wait(xid, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  follow(party: string): Follower {
    return new Follower(this, party);
  }

  count(party: string, by: 1 | -1): void {
    this.followers += by;
    const count = this.followersOf(party) + by;
    if (count === 0) this.open.delete(party);
    else this.open.set(party, count);
  }

  /** Ends all waits. Waits that start later end immediately. */
  stop(): void {
    this.bus.off('changed', this.wake);
    clearInterval(this.poll);
    this.stopper.abort();
    for (const tail of this.tails.values()) tail.stop();
    this.tails.clear();
    this.horizon.stop();
  }

  read(party: string, after: Position | 'OLDEST', limit: number): Promise<ChangePage | undefined> {
    return readChanges(this.db, party, after, limit);
  }

  tailOf(party: string, at: Position): Tail {
    const known = this.tails.get(party);
    if (known !== undefined && !known.isStopped) return known;
    const tail = new Tail(
      (after, limit) => this.read(party, after, limit),
      (xid, done) => this.horizon.wait(xid, done),
      at,
    );
    this.tails.set(party, tail);
    // Start a read immediately, because changes may have been committed after the follower's last read.
    tail.wake();
    return tail;
  }

  drop(party: string, tail: Tail): void {
    tail.stop();
    if (this.tails.get(party) === tail) this.tails.delete(party);
  }

  private async pollTails(): Promise<void> {
    if (this.isPolling || this.tails.size === 0) return;
    this.isPolling = true;
    try {
      const places = Array.from(this.tails, ([party, { end }]) => ({ party, at: end }));
      this.bus.emit('changed', await movedOn(this.db, places));
    } catch {
      // Ignore the error, because the next poll tries again.
    } finally {
      this.isPolling = false;
    }
  }
}

/**
 * Follows a party's log from any position. A follower must use little memory, because an exchange has thousands of
 * followers.
 */
export class Follower {
  private readonly feed: Feed;
  private readonly party: string;
  private tail: Tail | undefined;
  isOpen = true;
  private done: (() => void) | undefined;

  constructor(feed: Feed, party: string) {
    this.feed = feed;
    this.party = party;
    feed.count(party, 1);
  }

  /**
   * Reads changes without waiting. Returns undefined if the row at the position was removed from the log, because later
   * changes may have been removed too.
   */
  async read(after: Position | 'OLDEST', limit: number): Promise<ChangePage | undefined> {
    const kept = after === 'OLDEST' ? undefined : this.tail?.behind(after, limit);
    return kept ?? this.feed.read(this.party, after, limit);
  }

  /**
   * Resolves when the log may have a change after the position, when `endWait` or `close` is called, or when the
   * exchange stops.
   */
  wait(after: Position): Promise<void> {
    if (!this.isOpen || this.feed.stopping.aborted) return Promise.resolve();
    if (this.tail?.isStopped) this.leave();
    if (this.tail === undefined) {
      this.tail = this.feed.tailOf(this.party, after);
      this.tail.followers++;
    }
    const { tail } = this;
    return new Promise((resolve) => {
      this.done = resolve;
      tail.wait(after, resolve);
    });
  }

  endWait(): void {
    if (this.done !== undefined) this.tail?.endWait(this.done);
  }

  close(): void {
    if (this.isOpen) this.feed.count(this.party, -1);
    this.isOpen = false;
    this.endWait();
    this.leave();
  }

  private leave(): void {
    const { tail } = this;
    if (tail !== undefined && --tail.followers === 0) this.feed.drop(this.party, tail);
    this.tail = undefined;
  }
}
