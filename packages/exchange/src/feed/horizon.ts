/**
 * Follows the horizon, which is the oldest database transaction that is still running. Readers get only changes of
 * transactions before the horizon. Otherwise, a reader could read later changes first, and then miss the changes that
 * the oldest transaction still adds.
 */

/** The pause between polls doubles from FIRST_MS to LAST_MS while the horizon does not move. */
const FIRST_MS = 2;
const LAST_MS = 64;

export class Horizon {
  private readonly read: () => Promise<string>;
  private readonly waiting = new Map<() => void, bigint>();
  private timer: NodeJS.Timeout | undefined;
  private last = 0n;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }

  /** Calls `done` when the changes of the transaction `xid` can be read. */
  wait(xid: string, done: () => void): void {
    this.waiting.set(done, BigInt(xid));
    this.timer ??= setTimeout(() => this.poll(FIRST_MS), FIRST_MS);
  }

  stop(): void {
    this.waiting.clear();
    clearTimeout(this.timer);
  }

  private async poll(afterMs: number): Promise<void> {
    // Ignore an error, because the next poll tries again.
    const horizon = BigInt(await this.read().catch(() => 0));
    for (const [done, xid] of [...this.waiting]) {
      if (xid >= horizon) continue;
      this.waiting.delete(done);
      done();
    }
    const ms = horizon > this.last ? FIRST_MS : Math.min(2 * afterMs, LAST_MS);
    this.last = horizon;
    this.timer = this.waiting.size > 0 ? setTimeout(() => this.poll(ms), ms) : undefined;
  }
}
