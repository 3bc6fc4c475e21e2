import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Admission } from './admission.ts';

/** An exchange with so many slots, whose operations end when the test says so. */
function exchangeWith(slots: number) {
  let now = 0;
  const admission = new Admission(slots, () => now);
  const begun: string[] = [];
  const refused: string[] = [];
  return {
    admission,
    /** Who was let in, in that order. */
    begun,
    refused,
    /** A request of `who`, or several. */
    ask(who: string, times = 1, gone = false) {
      for (let i = 0; i < times; i++) {
        const turn = admission.enter(who, () => gone);
        if (turn === undefined) begun.push(who);
        else
          turn.then(
            () => begun.push(who),
            (error) => refused.push(`${error.reason}: ${error.message}`),
          );
      }
    },
    /** The oldest operations of `who` end. */
    async end(who: string, times = 1) {
      for (let i = 0; i < times; i++) admission.leave(who);
      await turn();
    },
    pass(ms: number) {
      now += ms;
    },
  };
}

const count = (begun: string[], who: string) => begun.filter((one) => one === who).length;

describe('Admission', () => {
  it('gives a principal that is alone every slot, at once, and the rest as slots become free', async () => {
    const { admission, ask, begun, end } = exchangeWith(4);
    ask('loud', 6);
    expect(begun).toHaveLength(4);
    expect([admission.running, admission.waiting]).toEqual([4, 2]);
    await end('loud', 1);
    expect(begun).toHaveLength(5);
    await end('loud', 2);
    expect(begun).toHaveLength(6);
    expect([admission.running, admission.waiting]).toEqual([3, 0]);
  });

  it('shares half of the slots between the active ones, and keeps the others for who comes next', async () => {
    const { ask, begun, end } = exchangeWith(8);
    ask('polite');
    ask('loud', 10);
    expect(count(begun, 'loud')).toBe(2);
    await end('loud', 1);
    expect(count(begun, 'loud')).toBe(3);
    ask('polite', 2);
    expect(count(begun, 'polite')).toBe(2);
    ask('another');
    expect(begun.at(-1)).toBe('another');
  });

  it('hands free slots round, however long the queue of one is', async () => {
    const { ask, begun, end } = exchangeWith(2);
    ask('loud', 100);
    for (const polite of ['a', 'b', 'c']) ask(polite, 2);
    expect(begun).toEqual(['loud', 'loud']);
    for (let i = 0; i < 9; i++) await end(begun[i]!);
    expect(begun.slice(2).join(' ')).toBe('a loud b c a loud b c loud');
  });

  it('lets nobody in past those who wait for a slot that has just become free', async () => {
    const { admission, ask, begun } = exchangeWith(1);
    ask('a');
    ask('b');
    admission.leave('a');
    ask('c');
    await turn();
    expect(begun).toEqual(['a', 'b']);
  });

  it('lets queued operations that wait for nothing begin one turn of the event loop after the other', async () => {
    const { admission, ask, begun } = exchangeWith(2);
    ask('loud', 10);
    admission.leave('loud');
    admission.leave('loud');
    await Promise.resolve();
    expect(begun).toHaveLength(2);
    await turn();
    expect(begun).toHaveLength(4);
  });

  it('forgets who was not seen for a while', async () => {
    const { ask, begun, end, pass } = exchangeWith(8);
    ask('polite');
    await end('polite');
    pass(500);
    ask('loud', 8);
    expect(count(begun, 'loud')).toBe(2);
    pass(600);
    ask('loud');
    await end('loud');
    expect(count(begun, 'loud')).toBe(9);
  });

  it('refuses what one principal has waiting beyond a thousand requests', () => {
    const { admission, ask } = exchangeWith(1);
    ask('loud', 1_001);
    expect(() => ask('loud')).toThrow('Too many requests: slow down and retry.');
    ask('polite');
    expect(admission.waiting).toBe(1_001);
  });

  it('passes over callers that have left, and gives their places to others', async () => {
    const { admission, ask, begun, refused, end } = exchangeWith(1);
    ask('a');
    ask('a', 1_000, true);
    ask('a');
    expect(admission.waiting).toBe(1);
    ask('b', 1, true);
    await end('a');
    expect(begun).toEqual(['a', 'a']);
    await end('a');
    expect(admission.waiting).toBe(0);
    expect(admission.running).toBe(0);
    expect(refused).toHaveLength(1_001);
    expect(new Set(refused)).toEqual(new Set(['MALFORMED_REQUEST: The caller left before it was its turn.']));
  });

  it('ends a wait after four seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { admission, ask, refused } = exchangeWith(1);
      ask('a', 2);
      await vi.advanceTimersByTimeAsync(3_999);
      expect(refused).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(refused).toEqual(['UNAVAILABLE: The exchange is busy: retry.']);
      expect(admission.waiting).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
