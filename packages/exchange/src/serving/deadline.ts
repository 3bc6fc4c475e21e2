import { ExchangeError } from '@measurement-exchange/contract';

/** Limits the time of a request. The time that a request spends in `pause` does not count. */
export class Deadline {
  hasPassed = false;
  private leftMs: number;
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private expire: () => void = () => {};

  constructor(ms: number) {
    this.leftMs = ms;
  }

  /**
   * Returns the result of `work`, or rejects at the deadline. `work` continues after the deadline. If the request has a
   * slot (see Admission), it keeps the slot until `work` ends.
   */
  bound<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.expire = () => {
        this.hasPassed = true;
        reject(deadlineExceeded());
      };
      this.start();
      const ended = () => clearTimeout(this.timer);
      work.then(ended, ended);
      work.then(resolve, reject);
    });
  }

  async pause<T>(wait: () => Promise<T>): Promise<T> {
    clearTimeout(this.timer);
    this.leftMs -= performance.now() - this.startedAt;
    try {
      return await wait();
    } finally {
      this.start();
    }
  }

  private start(): void {
    this.startedAt = performance.now();
    this.timer = setTimeout(this.expire, this.leftMs);
  }
}

export function deadlineExceeded(): ExchangeError {
  return new ExchangeError('DEADLINE_EXCEEDED', 'The exchange took too long; the outcome is not known.');
}
