import { type Claim, type Queryable, renewLease } from '../database/index.ts';

/** Renews a stage's lease while its mill works. */
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
    // Renew early enough that two renewals may fail before the lease expires.
    this.timer = setInterval(() => void this.renew(), claim.leaseMs / 3);
  }

  get isLost(): boolean {
    return this.lost.signal.aborted;
  }

  end(): void {
    clearInterval(this.timer);
  }

  /**
   * Renews the lease. Aborts `signal` if the database reports the lease as lost, or if it expired before a renewal
   * succeeded.
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
