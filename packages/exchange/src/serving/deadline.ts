import { ExchangeError } from '@measurement-exchange/contract';

/** The time within which work must be done, not counting the time in which it waits on purpose. */
export class Deadline {
  private leftMs: number;
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private expire: () => void = () => {};

  constructor(ms: number) {
    this.leftMs = ms;
  }

  /** `work` continues after the deadline and holds its slot until it ends, because it cannot be undone from here. */
  bound<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.expire = () =>
        reject(
          new ExchangeError('DEADLINE_EXCEEDED', 'The exchange took too long; the outcome is not known.'),
        );
      this.start();
      work.then(
        (value) => {
          clearTimeout(this.timer);
          resolve(value);
        },
        (error) => {
          clearTimeout(this.timer);
          reject(error);
        },
      );
    });
  }

  /** Stops the clock of the deadline while `wait` runs. */
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

export function withDeadline<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Deadline(ms).bound(work);
}
