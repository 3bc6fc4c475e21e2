import { once } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** The exit code after an interrupt: 128 plus 2, the number of SIGINT. */
export const INTERRUPTED = 130;

/**
 * Runs a program until it gets a signal. A program with an IPC channel to its parent process also stops when the parent
 * ends. At the end, disposes of the resources in `opened`.
 */
export async function runUntilStopped(
  start: (opened: AsyncDisposableStack, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  // Handle signals before the start, because a parent process may send a signal as soon as the program accepts
  // connections.
  const stopped = opened.use(new StopSignal());
  process.once('disconnect', stopped.stop);
  opened.defer(() => void process.off('disconnect', stopped.stop));
  await start(opened, stopped.signal);
  await stopped.wait();
  // Unreference the IPC channel, because an open channel keeps the process running.
  process.channel?.unref();
}

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
