/** The end of a party's log: read once for all who follow it in this process. */
import type { ChangePage, PlacedChange, Position } from '../database/changes.ts';

/** Rows that are read at once. */
const READ = 1_000;
/** Rows that are kept for those who are a little behind; the others read for themselves. */
const KEPT = 256;
/** Until rows of transactions that are not the oldest ones can be read: the first wait, doubled up to the last. */
const HORIZON_MS = 2;
const MAX_HORIZON_MS = 64;
const RETRY_MS = 1_000;

/** Reads the changes behind a position; undefined where the log no longer reaches back to it. */
export type ReadPage = (after: Position, limit: number) => Promise<ChangePage | undefined>;

export class Tail {
  /** Up to here everything was read. */
  end: Position;
  /** Followers that are open. */
  followers = 0;
  /** Nothing is read any more: a new one begins where its followers are. */
  isStopped = false;
  private readonly readPage: ReadPage;
  /** Right behind this position, up to the end. */
  private start: Position;
  private kept: PlacedChange[] = [];
  /** Where each of those who wait is. */
  private readonly waiting = new Map<() => void, Position>();
  private isReading = false;
  private isStale = false;
  private timer: NodeJS.Timeout | undefined;
  private horizonMs = HORIZON_MS;

  constructor(readPage: ReadPage, at: Position) {
    this.readPage = readPage;
    this.start = at;
    this.end = at;
  }

  /** What is kept behind a position, if nothing between is missing. */
  behind(after: Position, limit: number): ChangePage | undefined {
    if (compare(after, this.start) < 0 || compare(after, this.end) >= 0) return undefined;
    // Most followers are near the end.
    const from = this.kept.findLastIndex(({ at }) => compare(at, after) <= 0) + 1;
    const changes = this.kept.slice(from, from + limit);
    return { changes, next: changes.at(-1)!.at, ahead: false };
  }

  /** Calls back once there is something behind the position, when this stops, and from `endWait`. */
  wait(after: Position, done: () => void): void {
    if (this.isStopped || compare(after, this.end) < 0) done();
    else this.waiting.set(done, after);
  }

  endWait(done: () => void): void {
    this.waiting.delete(done);
    done();
  }

  /** There may be more. */
  wake(): void {
    this.isStale = true;
    if (!this.isReading && !this.isStopped) void this.read();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    for (const done of [...this.waiting.keys()]) this.endWait(done);
  }

  private async read(): Promise<void> {
    this.isReading = true;
    clearTimeout(this.timer);
    let again = 0;
    try {
      while (this.isStale && !this.isStopped) {
        this.isStale = false;
        const page = await this.readPage(this.end, READ);
        // Those who follow find out for themselves that the log does not reach back.
        if (page === undefined) this.stop();
        else again = this.take(page);
      }
    } catch {
      again = RETRY_MS;
    } finally {
      this.isReading = false;
    }
    if (again > 0 && !this.isStopped) this.timer = setTimeout(() => this.wake(), again);
  }

  /** Returns after how many milliseconds there may be more, or 0. */
  private take({ changes, next, ahead }: ChangePage): number {
    if (changes.length > 0) {
      this.horizonMs = HORIZON_MS;
      this.end = next;
      this.kept.push(...changes);
      const dropped = this.kept.splice(0, Math.max(0, this.kept.length - KEPT)).at(-1);
      if (dropped !== undefined) this.start = dropped.at;
      for (const [done, after] of [...this.waiting]) {
        if (compare(after, this.end) < 0) this.endWait(done);
      }
    }
    this.isStale ||= changes.length === READ;
    if (!ahead) return 0;
    const ms = this.horizonMs;
    this.horizonMs = Math.min(2 * ms, MAX_HORIZON_MS);
    return ms;
  }
}

export function compare(a: Position, b: Position): number {
  const [x, y] = [BigInt(a.xid), BigInt(b.xid)];
  if (x !== y) return x < y ? -1 : 1;
  return a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0;
}
