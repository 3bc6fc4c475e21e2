/** The end of a party's log, read once for all its followers in this process. */
import type { ChangePage, PlacedChange, Position } from '../database/changes.ts';

/** The number of rows in one read. */
const READ = 1_000;
/** The number of rows kept for followers that are a little behind; the others read the database themselves. */
const KEPT = 256;
const RETRY_MS = 1_000;

/** Reads the changes behind a position; undefined where the log no longer reaches back to it. */
export type ReadPage = (after: Position, limit: number) => Promise<ChangePage | undefined>;
/** Calls back once rows of the transaction can be read. */
export type WaitFor = (xid: string, done: () => void) => void;

export class Tail {
  /** The position up to which everything was read. */
  end: Position;
  /** The number of open followers. */
  followers = 0;
  /** A stopped tail reads no more; a follower that waits again gets a new one. */
  isStopped = false;
  private readonly readPage: ReadPage;
  private readonly waitFor: WaitFor;
  /** `kept` holds the changes behind this position, up to the end. */
  private start: Position;
  private kept: PlacedChange[] = [];
  /** The position of each waiting follower, by its callback. */
  private readonly waiting = new Map<() => void, Position>();
  private isReading = false;
  private isStale = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(readPage: ReadPage, waitFor: WaitFor, at: Position) {
    this.readPage = readPage;
    this.waitFor = waitFor;
    this.start = at;
    this.end = at;
  }

  /** The kept changes behind a position, if none between is missing. */
  behind(after: Position, limit: number): ChangePage | undefined {
    if (compare(after, this.start) < 0 || compare(after, this.end) >= 0) return undefined;
    // Most followers are near the end.
    const from = this.kept.findLastIndex(({ at }) => compare(at, after) <= 0) + 1;
    const changes = this.kept.slice(from, from + limit);
    return { changes, next: changes.at(-1)!.at, ahead: undefined };
  }

  /** Calls back once a change is behind the position, when this stops, and from `endWait`. */
  wait(after: Position, done: () => void): void {
    if (this.isStopped || compare(after, this.end) < 0) done();
    else this.waiting.set(done, after);
  }

  endWait(done: () => void): void {
    this.waiting.delete(done);
    done();
  }

  /** Reads again: the log may have more. */
  readonly wake = (): void => {
    this.isStale = true;
    if (!this.isReading && !this.isStopped) void this.read();
  };

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    for (const done of [...this.waiting.keys()]) this.endWait(done);
  }

  private async read(): Promise<void> {
    this.isReading = true;
    clearTimeout(this.timer);
    try {
      while (this.isStale && !this.isStopped) {
        this.isStale = false;
        const page = await this.readPage(this.end, READ);
        // Each follower finds out by its own read that the log does not reach back.
        if (page === undefined) this.stop();
        else this.take(page);
      }
    } catch {
      if (!this.isStopped) this.timer = setTimeout(this.wake, RETRY_MS);
    } finally {
      this.isReading = false;
    }
  }

  private take({ changes, next, ahead }: ChangePage): void {
    if (changes.length > 0) {
      this.end = next;
      this.kept.push(...changes);
      const dropped = this.kept.splice(0, Math.max(0, this.kept.length - KEPT)).at(-1);
      if (dropped !== undefined) this.start = dropped.at;
      for (const [done, after] of [...this.waiting]) {
        if (compare(after, this.end) < 0) this.endWait(done);
      }
    }
    this.isStale ||= changes.length === READ;
    if (ahead !== undefined) this.waitFor(ahead, this.wake);
  }
}

export function compare(a: Position, b: Position): number {
  const [x, y] = [BigInt(a.xid), BigInt(b.xid)];
  if (x !== y) return x < y ? -1 : 1;
  return a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0;
}
