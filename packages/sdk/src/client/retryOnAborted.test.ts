import { ExchangeError } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { retryOnAborted } from './retryOnAborted.ts';

const aborted = () => new ExchangeError('REQUISITION_ETAG_MISMATCH', 'It changed.');
const slept: number[] = [];
const clock = {
  now: () => 0,
  sleep: async (ms: number) => {
    slept.push(ms);
  },
};

describe('retryOnAborted', () => {
  it('reads again before each attempt, until one succeeds', async () => {
    let version = 0;
    const seen: number[] = [];
    const result = await retryOnAborted(
      async () => ++version,
      async (fresh) => {
        seen.push(fresh);
        if (fresh < 3) throw aborted();
        return `changed ${fresh}`;
      },
      { clock },
    );
    expect(result).toBe('changed 3');
    expect(seen).toEqual([1, 2, 3]);
    expect(slept).toHaveLength(2);
  });

  it('gives up after the maximum number of attempts, with the error of the exchange', async () => {
    let tries = 0;
    const never = async () => {
      tries++;
      throw aborted();
    };
    await expect(retryOnAborted(async () => 1, never, { clock, maxAttempts: 3 })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(tries).toBe(3);
  });

  it('retries neither other errors nor a failed read', async () => {
    let tries = 0;
    const fail = (error: Error) => async () => {
      tries++;
      throw error;
    };
    const refusal = new ExchangeError('REQUISITION_STATE_ILLEGAL', 'No.');
    await expect(retryOnAborted(async () => 1, fail(refusal), { clock })).rejects.toBe(refusal);
    await expect(retryOnAborted(fail(aborted()), async () => 1, { clock })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(tries).toBe(2);
  });

  it('rejects with the reason if the caller aborts', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const changing = retryOnAborted(
      async () => 1,
      async () => {
        controller.abort(reason);
        throw aborted();
      },
      { signal: controller.signal },
    );
    await expect(changing).rejects.toBe(reason);
  });
});
