import { afterEach, expect, it, vi } from 'vitest';
import { StopSignal } from './stopSignal.ts';

afterEach(() => vi.restoreAllMocks());

it('StopSignal aborts on the first signal, exits with 130 on the second, and removes its listeners', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const listeners = () => ['SIGINT', 'SIGTERM'].map((signal) => process.listenerCount(signal));
  const before = listeners();
  {
    using stopped = new StopSignal();
    const waiting = stopped.wait();
    process.emit('SIGTERM');
    await waiting;
    await stopped.wait();
    expect(stopped.signal.aborted).toBe(true);
    expect(exit).not.toHaveBeenCalled();
    process.emit('SIGINT');
    expect(exit).toHaveBeenCalledExactlyOnceWith(130);
  }
  expect(listeners()).toEqual(before);
});
