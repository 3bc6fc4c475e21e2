/** Rows are read once all older transactions are over: one look for all who wait for that. */

/** Between two looks, doubled up to the last while the oldest transaction is the same. */
const FIRST_MS = 2;
const LAST_MS = 64;

export class Horizon {
  private readonly read: () => Promise<string>;
  /** With the transaction that each waits for. */
  private readonly waiting = new Map<() => void, bigint>();
  private timer: NodeJS.Timeout | undefined;
  private last = 0n;

  /** `read` tells the oldest transaction that is not over. */
  constructor(read: () => Promise<string>) {
    this.read = read;
  }

  /** Calls back once rows of the transaction can be read. */
  wait(xid: string, done: () => void): void {
    this.waiting.set(done, BigInt(xid));
    this.timer ??= setTimeout(() => this.look(FIRST_MS), FIRST_MS);
  }

  stop(): void {
    this.waiting.clear();
    clearTimeout(this.timer);
  }

  private async look(afterMs: number): Promise<void> {
    // Where the database is out of reach, the next look asks again.
    const horizon = BigInt(await this.read().catch(() => 0));
    for (const [done, xid] of [...this.waiting]) {
      if (xid >= horizon) continue;
      this.waiting.delete(done);
      done();
    }
    const ms = horizon > this.last ? FIRST_MS : Math.min(2 * afterMs, LAST_MS);
    this.last = horizon;
    this.timer = this.waiting.size > 0 ? setTimeout(() => this.look(ms), ms) : undefined;
  }
}
