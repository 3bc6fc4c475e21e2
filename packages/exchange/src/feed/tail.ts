/** The end of a party's log, which is read once for all followers of the party in this process. */
import type { ChangePage, PlacedChange, Position } from '../database/changes.ts';

const READ = 1_000;
/** The number of rows kept for followers that are a little behind; a follower further behind reads the database itself. */
const KEPT = 256;
const RETRY_MS = 1_000;

/** Reads the changes after a position; undefined if changes right after it were already removed. */
type ReadPage = (after: Position, limit: number) => Promise<ChangePage | undefined>;
/** Calls back once rows of the transaction can be read. */
type WaitFor = (xid: string, done: () => void) => void;

export class Tail {
  /** The position up to which all changes were read. */
  end: Position;
  followers = 0;
  /** A stopped tail does not read again; a follower that waits again gets a new tail. */
  isStopped = false;
  private readonly readPage: ReadPage;
  private readonly waitFor: WaitFor;
  /** `kept` contains the changes after this position, up to `end`. */
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

  /** The kept changes after a position; undefined if there is no change after it, or not all of them are kept. */
  behind(after: Position, limit: number): ChangePage | undefined {
    if (compare(after, this.start) < 0 || compare(after, this.end) >= 0) return undefined;
    // Searches backward, since most followers are near the end.
    const from = this.kept.findLastIndex(({ at }) => compare(at, after) <= 0) + 1;
    const changes = this.kept.slice(from, from + limit);
    return { changes, next: changes.at(-1)!.at, ahead: undefined };
  }

  /** Calls back once there is a change after the position, when the tail stops, or from `endWait`. */
  wait(after: Position, done: () => void): void {
    if (this.isStopped || compare(after, this.end) < 0) done();
    else this.waiting.set(done, after);
  }

  endWait(done: () => void): void {
    this.waiting.delete(done);
    done();
  }

  /** Reads again, since the log may have more changes. */
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
        // The tail's position is no longer in the log: each follower finds this out by its own read.
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
