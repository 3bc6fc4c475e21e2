/** The horizon is the oldest transaction that has not ended. Rows of older transactions can be read. */

/** The pause between two polls doubles from the first to the last value while the horizon does not move. */
const FIRST_MS = 2;
const LAST_MS = 64;

export class Horizon {
  private readonly read: () => Promise<string>;
  /** The transaction that each callback waits for. */
  private readonly waiting = new Map<() => void, bigint>();
  private timer: NodeJS.Timeout | undefined;
  private last = 0n;

  /** `read` returns the oldest transaction that has not ended. */
  constructor(read: () => Promise<string>) {
    this.read = read;
  }

  /** Calls back once rows of the transaction can be read. */
  wait(xid: string, done: () => void): void {
    this.waiting.set(done, BigInt(xid));
    this.timer ??= setTimeout(() => this.poll(FIRST_MS), FIRST_MS);
  }

  stop(): void {
    this.waiting.clear();
    clearTimeout(this.timer);
  }

  private async poll(afterMs: number): Promise<void> {
    // If the database cannot be reached, the next poll tries again.
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
