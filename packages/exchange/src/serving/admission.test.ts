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
    /** The caller of each admitted request, in the order in which the requests were admitted. */
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
  it('gives every slot to a principal that is alone, and admits its waiting requests as slots become free', async () => {
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

  it('shares half of the slots among active principals, and reserves the other half for new ones', async () => {
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

  it('gives free slots to waiting principals in turn, however long the queue of one of them is', async () => {
    const { ask, begun, end } = exchangeWith(2);
    ask('loud', 100);
    for (const polite of ['a', 'b', 'c']) ask(polite, 2);
    expect(begun).toEqual(['loud', 'loud']);
    for (let i = 0; i < 9; i++) await end(begun[i]!);
    expect(begun.slice(2).join(' ')).toBe('a loud b c a loud b c loud');
  });

  it('does not admit a new request before requests that wait for a slot that has just become free', async () => {
    const { admission, ask, begun } = exchangeWith(1);
    ask('a');
    ask('b', 2);
    admission.leave('a');
    ask('c');
    // This second freed slot goes to a waiting request only in the next turn of the event loop. Until then, the slot
    // must not go to a new request.
    admission.leave('b');
    ask('d');
    await turn();
    expect(begun).toEqual(['a', 'b', 'b']);
  });

  it('starts only as many queued operations as there are slots in one turn of the event loop', async () => {
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

  it('no longer reserves slots for a principal one second after its last request', async () => {
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

  it('rejects a request of a principal that already has 1,000 waiting requests', () => {
    const { admission, ask } = exchangeWith(1);
    ask('loud', 1_001);
    expect(() => ask('loud')).toThrow('Too many requests: slow down and retry.');
    ask('polite');
    expect(admission.waiting).toBe(1_001);
  });

  it('rejects waiting requests whose callers hung up, and gives their places to others', async () => {
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

  describe('over time', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it('rejects a request that has waited for four seconds', async () => {
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
     * slot. A caller earns credit for only half of this share, which is a quarter of a slot. A caller can therefore use
     * one slot for a quarter of the time.
     */
    async function tenActive() {
      const exchange = exchangeWith(10);
      for (let i = 1; i < 10; i++) {
        exchange.ask(`polite ${i}`);
        await exchange.end(`polite ${i}`);
      }
      return exchange;
    }

    it('limits one of ten active principals to its share of the slot time, even if the others are idle', async () => {
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

    it('keeps no principal waiting if all are equally busy', async () => {
      const { ask, begun, end, pass } = await tenActive();
      const busy = Array.from({ length: 10 }, (_, i) => `busy ${i}`);
      for (let ms = 0; ms < 500; ms += 10) {
        for (const who of busy) ask(who);
        await pass(10);
        for (const who of busy) await end(who);
      }
      for (const who of busy) expect(count(begun, who)).toBe(50);
    });

    it('admits a principal immediately again after it was idle', async () => {
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

    it('makes a principal that has used up its slot time wait, and admits the others', async () => {
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

    it('makes a principal wait at most 105 ms after an operation of 3 s', async () => {
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

  it('frees the slot of an operation while it works outside, and returns the slot immediately afterwards', async () => {
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
