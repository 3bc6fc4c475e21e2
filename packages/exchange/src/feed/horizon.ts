/** The horizon is the oldest transaction still running. Rows written by older transactions can be read. */

/** The pause between two polls. It doubles from the first to the last value as long as the horizon does not move. */
const FIRST_MS = 2;
const LAST_MS = 64;

export class Horizon {
  private readonly read: () => Promise<string>;
  /** The callbacks, each with the transaction that it waits for. */
  private readonly waiting = new Map<() => void, bigint>();
  private timer: NodeJS.Timeout | undefined;
  private last = 0n;

  /** `read` returns the oldest transaction still running. */
  constructor(read: () => Promise<string>) {
    this.read = read;
  }

  /** Calls `done` once the rows written by the transaction can be read. */
  wait(xid: string, done: () => void): void {
    this.waiting.set(done, BigInt(xid));
    this.timer ??= setTimeout(() => this.poll(FIRST_MS), FIRST_MS);
  }

  stop(): void {
    this.waiting.clear();
    clearTimeout(this.timer);
  }

  private async poll(afterMs: number): Promise<void> {
    // If the database is unreachable, the next poll tries again.
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
