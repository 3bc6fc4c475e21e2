/** The queue of one principal's requests that wait for a slot. Their number and their waiting time are limited. */
import { ExchangeError } from '@measurement-exchange/contract';
import { rateLimited } from './rateLimiter.ts';

/** The default maximum number of waiting requests. It equals the default burst of a principal's rate limit. */
const MAX_WAITING = 1_000;
/** The maximum wait. Every request must get its response within 10 s, including the time of the operation. */
const MAX_WAIT_MS = 4_000;

interface Waiter {
  isGone: () => boolean;
  admit: () => void;
  reject: (error: ExchangeError) => void;
  timer: NodeJS.Timeout;
}

export class WaitingQueue {
  private readonly waiters = new Set<Waiter>();
  private readonly maxWaiting: number;

  constructor(maxWaiting = MAX_WAITING) {
    this.maxWaiting = maxWaiting;
  }

  get length(): number {
    return this.waiters.size;
  }

  wait(isGone: () => boolean): Promise<void> {
    if (this.length >= this.maxWaiting) this.rejectGone();
    if (this.length >= this.maxWaiting) throw rateLimited('Too many requests', 1);
    return new Promise((admit, reject) => {
      const timer = setTimeout(() => this.remove(waiter).reject(busy()), MAX_WAIT_MS);
      const waiter: Waiter = { isGone, admit, reject, timer };
      this.waiters.add(waiter);
    });
  }

  /**
   * Admits the first request whose caller still waits for a response. Returns false if the queue has no such request.
   */
  admitFirst(): boolean {
    for (const waiter of this.waiters) {
      this.remove(waiter);
      if (!waiter.isGone()) {
        waiter.admit();
        return true;
      }
      waiter.reject(gone());
    }
    return false;
  }

  private rejectGone(): void {
    for (const waiter of this.waiters) if (waiter.isGone()) this.remove(waiter).reject(gone());
  }

  private remove(waiter: Waiter): Waiter {
    clearTimeout(waiter.timer);
    this.waiters.delete(waiter);
    return waiter;
  }
}

function busy(): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The exchange is busy: retry.', { retryAfterSeconds: 1 });
}

function gone(): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', 'The caller hung up while its request waited.');
}
