import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Admission } from './admission.ts';

/** Simulates an exchange with this many slots. Each operation runs until the test ends it. */
function exchangeWith(slots: number) {
  let now = 0;
  const admission = new Admission(slots, () => now);
  const begun: string[] = [];
  const rejected: string[] = [];
  return {
    admission,
    /** The callers that were admitted, in order. */
    begun,
    rejected,
    /** Sends one or more requests of `who`. */
    ask(who: string, times = 1, gone = false) {
      for (let i = 0; i < times; i++) {
        const turn = admission.enter(who, () => gone);
        if (turn === undefined) begun.push(who);
        else
          turn.then(
            () => begun.push(who),
            (error) => rejected.push(`${error.reason}: ${error.message}`),
          );
      }
    },
    /** Ends one or more running operations of `who`. */
    async end(who: string, times = 1) {
      for (let i = 0; i < times; i++) admission.leave(who);
      await turn();
    },
    /** Advances the simulated clock, and fake timers if the test uses them. */
    async pass(ms: number) {
      now += ms;
      if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(ms);
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

  it('shares half of the slots between the active ones, and leaves the others for who becomes active', async () => {
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
    ask('b', 2);
    admission.leave('a');
    ask('c');
    // The freed slot goes to the next waiting request only in the next turn of the event loop.
    admission.leave('b');
    ask('d');
    await turn();
    expect(begun).toEqual(['a', 'b', 'b']);
  });

  it('lets queued operations that wait for nothing begin as many as there are slots in one turn of the event loop', async () => {
    const { admission } = exchangeWith(2);
    let begun = 0;
    const all = Array.from({ length: 11 }, () =>
      admission.run(
        'loud',
        () => false,
        async () => {
          begun++;
        },
      ),
    );
    // Wait until all promises that can resolve in this turn have resolved.
    await new Promise(process.nextTick);
    expect(begun).toBe(4);
    await turn();
    expect(begun).toBeLessThan(11);
    await Promise.all(all);
    expect([begun, admission.running, admission.waiting]).toEqual([11, 0, 0]);
  });

  it('evicts who was not seen for a while', async () => {
    const { ask, begun, end, pass } = exchangeWith(8);
    ask('polite');
    await end('polite');
    await pass(500);
    ask('loud', 8);
    expect(count(begun, 'loud')).toBe(2);
    await pass(600);
    ask('loud');
    await end('loud');
    expect(count(begun, 'loud')).toBe(9);
  });

  it('rejects what one principal has waiting beyond a thousand requests', () => {
    const { admission, ask } = exchangeWith(1);
    ask('loud', 1_001);
    expect(() => ask('loud')).toThrow('Too many requests: slow down and retry.');
    ask('polite');
    expect(admission.waiting).toBe(1_001);
  });

  it('passes over callers that have left, and gives their places to others', async () => {
    const { admission, ask, begun, rejected, end } = exchangeWith(1);
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
    expect(rejected).toHaveLength(1_001);
    expect(new Set(rejected)).toEqual(
      new Set(['MALFORMED_REQUEST: The caller hung up while its request waited.']),
    );
  });

  describe('as time passes', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it('ends a wait after four seconds', async () => {
      const { admission, ask, rejected, pass } = exchangeWith(1);
      ask('a', 2);
      await pass(3_999);
      expect(rejected).toEqual([]);
      await pass(1);
      expect(rejected).toEqual(['UNAVAILABLE: The exchange is busy: retry.']);
      expect(admission.waiting).toBe(0);
    });

    /**
     * Makes nine callers active. With a tenth caller, ten callers share half of the 10 slots, so each caller has half a
     * slot. A caller earns credit for half of its share, a quarter of a slot. So a caller can use one slot for a
     * quarter of the time.
     */
    async function tenActive() {
      const exchange = exchangeWith(10);
      for (let i = 1; i < 10; i++) {
        exchange.ask(`polite ${i}`);
        await exchange.end(`polite ${i}`);
      }
      return exchange;
    }

    it('gives one of many a slot for its part of the time, though nobody else asks', async () => {
      const { admission, ask, begun, end, pass } = await tenActive();
      // `loud` sends requests without pause, and each of its operations takes two milliseconds.
      for (let ms = 0; ms < 1_000; ms += 2) {
        if (admission.waiting === 0) ask('loud', 5);
        const running = admission.running;
        await pass(2);
        if (running > 0) await end('loud');
      }
      const busy = count(begun, 'loud') / 500;
      expect(busy).toBeGreaterThan(0.22);
      expect(busy).toBeLessThan(0.3);
    });

    it('keeps nobody waiting where all are as busy', async () => {
      const { ask, begun, end, pass } = await tenActive();
      const busy = Array.from({ length: 10 }, (_, i) => `busy ${i}`);
      for (let ms = 0; ms < 500; ms += 10) {
        for (const who of busy) ask(who);
        await pass(10);
        for (const who of busy) await end(who);
      }
      for (const who of busy) expect(count(begun, who)).toBe(50);
    });

    it('lets one begin at once again that has not asked for a while', async () => {
      const { ask, begun, end, pass } = await tenActive();
      ask('loud', 2);
      await pass(80);
      await end('loud');
      expect(count(begun, 'loud')).toBe(1);
      await pass(200);
      expect(count(begun, 'loud')).toBe(2);
      await end('loud');
      await pass(200);
      ask('loud');
      expect(count(begun, 'loud')).toBe(3);
    });

    it('lets one that has had its time wait, and the others begin', async () => {
      const { ask, begun, end, pass } = await tenActive();
      ask('loud', 2);
      await pass(80);
      ask('polite 1');
      await end('loud');
      ask('polite 2');
      expect(begun.slice(-3)).toEqual(['loud', 'polite 1', 'polite 2']);
      await end('polite 1');
      await end('polite 2');
      expect(count(begun, 'loud')).toBe(1);
    });

    it('holds nobody back for long, however long an operation took', async () => {
      const { ask, begun, end, pass } = await tenActive();
      ask('slow');
      await pass(3_000);
      for (let i = 1; i < 10; i++) ask(`other ${i}`);
      await end('slow');
      ask('slow');
      await pass(5);
      expect(count(begun, 'slow')).toBe(1);
      await pass(100);
      expect(count(begun, 'slow')).toBe(2);
    });
  });

  it('gives a slot to others while its holder works outside, and back at once', async () => {
    const { admission, begun, ask, end } = exchangeWith(1);
    ask('a');
    let finish = () => {};
    const outside = admission.outside('a', () => new Promise<void>((done) => (finish = done)));
    expect(admission.running).toBe(0);
    ask('b');
    expect(begun).toEqual(['a', 'b']);
    finish();
    await outside;
    expect(admission.running).toBe(2);
    await end('a');
    await end('b');
    expect(admission.running).toBe(0);
    ask('a');
    const failing = admission.outside('a', () => Promise.reject(new Error('failed')));
    await expect(failing).rejects.toThrow('failed');
    expect(admission.running).toBe(1);
  });
});
