import { Failed } from '../terminal/output.ts';
import { EXIT } from './failure.ts';

/** Ctrl-C aborts the work and prints what to do next. */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  whatNow: string,
): Promise<T> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    return await work(interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) throw new Failed(EXIT.interrupted, `interrupted. ${whatNow}`);
    throw error;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}
