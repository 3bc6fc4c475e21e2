/** Following the log of changes: who waits for a party's next change, and is told of it as soon as it can be read. */
import { type ChangePage, movedOn, type Position, readChanges } from '../database/changes.ts';
import type { Database } from '../database/db.ts';
import { Tail } from './tail.ts';

/** A net for what nobody was told of: one statement for all parties. */
const POLL_MS = 2_000;

/** One that follows a party, from wherever it is. */
export interface Follower {
  /** Behind the position, without waiting; undefined where the log no longer reaches back to it. */
  read(after: Position | 'OLDEST', limit: number): Promise<ChangePage | undefined>;
  /** Until there may be something behind the position, `signal` is aborted, or the exchange stops. */
  wait(after: Position, signal: AbortSignal): Promise<void>;
  close(): void;
}

export class Feed {
  /** Aborted when the exchange stops: who follows is to end. */
  readonly stopping: AbortSignal;
  /** How many follow, of all parties. */
  followers = 0;
  /** Called when something may have changed for these parties; for all where none are named. */
  onWake: (parties?: Iterable<string>) => void = () => {};
  private readonly db: Database;
  private readonly tails = new Map<string, Tail>();
  /** How many follow each party. */
  private readonly open = new Map<string, number>();
  private readonly stopper = new AbortController();
  private readonly poll: NodeJS.Timeout;
  private isPolling = false;

  constructor(db: Database) {
    this.db = db;
    this.stopping = this.stopper.signal;
    this.poll = setInterval(() => void this.look(), POLL_MS);
  }

  /** How many follow this party. */
  followersOf(party: string): number {
    return this.open.get(party) ?? 0;
  }

  /** Something may have changed for these parties; for all where none are named. */
  wake(parties?: Iterable<string>): void {
    this.onWake(parties);
    for (const party of parties ?? this.tails.keys()) this.tails.get(party)?.wake();
  }

  follow(party: string): Follower {
    let tail: Tail | undefined;
    let isOpen = true;
    this.count(party, 1);
    const leave = () => {
      if (tail !== undefined && --tail.followers === 0) this.drop(party, tail);
      tail = undefined;
    };
    return {
      read: async (after, limit) => {
        const kept = after === 'OLDEST' ? undefined : tail?.behind(after, limit);
        return kept ?? readChanges(this.db, party, after, limit);
      },
      wait: (after, signal) => {
        if (!isOpen || this.stopping.aborted) return Promise.resolve();
        if (tail?.isStopped) leave();
        if (tail === undefined) {
          tail = this.tailOf(party, after);
          tail.followers++;
        }
        return tail.wait(after, signal);
      },
      close: () => {
        if (isOpen) this.count(party, -1);
        isOpen = false;
        leave();
      },
    };
  }

  private count(party: string, by: 1 | -1): void {
    this.followers += by;
    const count = this.followersOf(party) + by;
    if (count === 0) this.open.delete(party);
    else this.open.set(party, count);
  }

  /** Ends all waits, and lets nobody wait any more. */
  stop(): void {
    clearInterval(this.poll);
    this.stopper.abort();
    for (const tail of this.tails.values()) tail.stop();
    this.tails.clear();
  }

  private tailOf(party: string, at: Position): Tail {
    const known = this.tails.get(party);
    if (known !== undefined && !known.isStopped) return known;
    const tail = new Tail((after, limit) => readChanges(this.db, party, after, limit), at);
    this.tails.set(party, tail);
    // Something may have come between the last read and now.
    tail.wake();
    return tail;
  }

  private drop(party: string, tail: Tail): void {
    tail.stop();
    if (this.tails.get(party) === tail) this.tails.delete(party);
  }

  private async look(): Promise<void> {
    if (this.isPolling || this.tails.size === 0) return;
    this.isPolling = true;
    try {
      const places = Array.from(this.tails, ([party, { end }]) => ({ party, at: end }));
      this.wake(await movedOn(this.db, places));
    } catch {
      // The database is out of reach: the next poll looks again.
    } finally {
      this.isPolling = false;
    }
  }
}
