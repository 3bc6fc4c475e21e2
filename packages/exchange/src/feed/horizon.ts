/**
 * Rows can be read once all older transactions are over. The horizon is the oldest transaction that is not over; one poll
 * serves everything that waits for it.
 */

/** The pause between two polls, doubled up to the last one while the horizon stays where it is. */
const FIRST_MS = 2;
const LAST_MS = 64;

export class Horizon {
  private readonly read: () => Promise<string>;
  /** Callbacks with the transaction that each waits for. */
  private readonly waiting = new Map<() => void, bigint>();
  private timer: NodeJS.Timeout | undefined;
  private last = 0n;

  /** `read` returns the oldest transaction that is not over. */
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
    // If the database is out of reach, the next poll tries again.
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
