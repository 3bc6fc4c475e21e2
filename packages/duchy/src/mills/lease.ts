import { type Claim, type Queryable, renewLease } from '../database/index.ts';

/** Renews the lease of a stage while its mill works. */
export class Lease {
  /** This signal is aborted when the lease is lost or `stop` is aborted. */
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
    // Two renewals may fail before the lease expires.
    this.timer = setInterval(() => void this.renew(), claim.leaseMs / 3);
  }

  get isLost(): boolean {
    return this.lost.signal.aborted;
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** The lease is lost if another mill has it, or if it expired without a renewal. */
  private async renew(): Promise<void> {
    const askedAt = performance.now();
    const isHeld = await renewLease(this.db, this.claim).catch(() => undefined);
    if (isHeld) this.expiresAt = askedAt + this.claim.leaseMs;
    else if (isHeld === false || performance.now() >= this.expiresAt) {
      this.lost.abort(new Error('The lease is lost.'));
    }
  }
}
