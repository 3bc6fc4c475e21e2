import { type Claim, type Queryable, renewLease } from '../database/index.ts';

/** A lease that is kept while its mill works. */
export interface Lease {
  /** Aborted when the lease is lost, or with `stop`. */
  signal: AbortSignal;
  isLost(): boolean;
  end(): void;
}

/** Renews the lease three times within its term; lost when another mill has it, or when the term passed unrenewed. */
export function keepLease(db: Queryable, claim: Claim, stop: AbortSignal): Lease {
  const lost = new AbortController();
  let until = performance.now() + claim.leaseMs;
  const timer = setInterval(async () => {
    const asked = performance.now();
    const isHeld = await renewLease(db, claim).catch(() => undefined);
    if (isHeld) until = asked + claim.leaseMs;
    else if (isHeld === false || performance.now() >= until) lost.abort(new Error('The lease is lost.'));
  }, claim.leaseMs / 3);
  return {
    signal: AbortSignal.any([lost.signal, stop]),
    isLost: () => lost.signal.aborted,
    end: () => clearInterval(timer),
  };
}
