/** The end of a party's log: read once for all who follow it in this process. */
import type { ChangePage, PlacedChange, Position } from '../database/changes.ts';

/** Rows that are read at once. */
const READ = 1_000;
/** Rows that are kept for those who are a little behind; the others read for themselves. */
const KEPT = 256;
const RETRY_MS = 1_000;

/** Reads the changes behind a position; undefined where the log no longer reaches back to it. */
export type ReadPage = (after: Position, limit: number) => Promise<ChangePage | undefined>;
/** Calls back once rows of the transaction can be read. */
export type WaitFor = (xid: string, done: () => void) => void;

export class Tail {
  /** Up to here everything was read. */
  end: Position;
  /** Followers that are open. */
  followers = 0;
  /** Nothing is read any more: a new one begins where its followers are. */
  isStopped = false;
  private readonly readPage: ReadPage;
  private readonly waitFor: WaitFor;
  /** Right behind this position, up to the end. */
  private start: Position;
  private kept: PlacedChange[] = [];
  /** Where each of those who wait is. */
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

  /** What is kept behind a position, if nothing between is missing. */
  behind(after: Position, limit: number): ChangePage | undefined {
    if (compare(after, this.start) < 0 || compare(after, this.end) >= 0) return undefined;
    // Most followers are near the end.
    const from = this.kept.findLastIndex(({ at }) => compare(at, after) <= 0) + 1;
    const changes = this.kept.slice(from, from + limit);
    return { changes, next: changes.at(-1)!.at, ahead: undefined };
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
        // Those who follow find out for themselves that the log does not reach back.
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
