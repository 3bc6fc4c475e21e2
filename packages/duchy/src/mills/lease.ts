import { type Claim, type Queryable, renewLease } from '../database/index.ts';

export class Lease {
  /** Aborted when the lease is lost or `stop` is aborted. */
  readonly signal: AbortSignal;
  private readonly db: Queryable;
  private readonly claim: Claim;
  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private expiresAt: number;

  constructor(db: Queryable, claim: Claim, stop: AbortSignal) {
    this.db = db;
    this.claim = claim;
    this.signal = AbortSignal.any([this.lost.signal, stop]);
    this.expiresAt = performance.now() + claim.leaseMs;
    // Renew after each third of the lease, so that one failed renewal does not end the lease.
    this.timer = setInterval(() => void this.renew(), claim.leaseMs / 3);
  }

  get isLost(): boolean {
    return this.lost.signal.aborted;
  }

  end(): void {
    clearInterval(this.timer);
  }

  /**
   * Renews the lease. Aborts `signal` if the database no longer has this lease, or if the lease expired because
   * renewals failed.
   */
  private async renew(): Promise<void> {
    const askedAt = performance.now();
    const isHeld = await renewLease(this.db, this.claim).catch(() => undefined);
    if (isHeld) this.expiresAt = askedAt + this.claim.leaseMs;
    else if (isHeld === false || performance.now() >= this.expiresAt) {
      this.lost.abort(new Error('The lease is lost.'));
    }
  }
}
