import { once } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** The exit code after an interrupt: 128 plus 2, the number of SIGINT. */
export const INTERRUPTED = 130;

/** Stops the program gracefully at the first SIGINT or SIGTERM. A second signal ends the program immediately. */
export class StopSignal implements Disposable {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.onSignal);
  }

  stop = (): void => this.controller.abort();

  async wait(): Promise<void> {
    if (!this.signal.aborted) await once(this.signal, 'abort');
  }

  private readonly onSignal = (): void => {
    if (this.signal.aborted) process.exit(INTERRUPTED);
    this.stop();
  };

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.onSignal);
  }
}
