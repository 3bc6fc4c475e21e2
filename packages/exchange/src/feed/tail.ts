/**
 * Keeps the latest changes of a party's log in memory. A tail reads each change once for all followers of the party in
 * this process.
 */
import type { ChangePage, PlacedChange, Position } from '../database/changes.ts';

const READ = 1_000;
/** The maximum number of changes kept in memory. Followers that need older changes query the database. */
const KEPT = 256;
const RETRY_MS = 1_000;

type ReadPage = (after: Position, limit: number) => Promise<ChangePage | undefined>;
type WaitFor = (xid: string, done: () => void) => void;

export class Tail {
  /** All changes up to this position have been read. */
  end: Position;
  followers = 0;
  /** A stopped tail never reads again. A follower that waits again gets a new tail. */
  isStopped = false;
  private readonly readPage: ReadPage;
  private readonly waitFor: WaitFor;
  /** `kept` contains the changes after this position, up to `end`. */
  private start: Position;
  private kept: PlacedChange[] = [];
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

  /**
   * Returns the changes after the position `after`. Returns undefined if the tail has read no change after this
   * position, or if the first changes after this position are no longer in memory.
   */
  behind(after: Position, limit: number): ChangePage | undefined {
    if (compare(after, this.start) < 0 || compare(after, this.end) >= 0) return undefined;
    // Search backward, because most followers are near the end.
    const from = this.kept.findLastIndex(({ at }) => compare(at, after) <= 0) + 1;
    const changes = this.kept.slice(from, from + limit);
    return { changes, next: changes.at(-1)!.at, ahead: undefined };
  }

  /** Calls `done` when there is a change after the position, when the tail stops, or when `endWait` is called. */
  wait(after: Position, done: () => void): void {
    if (this.isStopped || compare(after, this.end) < 0) done();
    else this.waiting.set(done, after);
  }

  endWait(done: () => void): void {
    this.waiting.delete(done);
    done();
  }

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
        // If the row at `end` was removed from the log, later changes may have been removed too. The tail then stops,
        // so that each follower reads the log itself and finds the gap.
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
