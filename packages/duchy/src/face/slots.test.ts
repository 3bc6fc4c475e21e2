import { afterEach, describe, expect, it, vi } from 'vitest';
import { Failures } from './slots.ts';

const MINUTE_MS = 60_000;

describe('Failures.run', () => {
  afterEach(() => vi.restoreAllMocks());

  it('does not remove a failure of this minute when work of the minute before succeeds', async () => {
    const start = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(start);
    const failures = new Failures(1, 'requests');
    const { promise, resolve } = Promise.withResolvers<void>();
    const earlier = failures.run(
      'a',
      () => promise,
      () => true,
    );
    clock.mockReturnValue(start + MINUTE_MS);
    const fail = () =>
      failures.run(
        'a',
        () => Promise.reject(new Error('wrong')),
        () => true,
      );
    await expect(fail()).rejects.toThrow('wrong');
    resolve();
    await earlier;
    await expect(fail()).rejects.toThrow('Too many requests were rejected.');
  });
});
