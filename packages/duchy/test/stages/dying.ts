/** Simulates a process that dies at a certain moment: from then on, none of its actions takes effect. */
import { isStress } from '@measurement-exchange/testkit/rounds';
import type { Duchy } from '../../src/computations/context.ts';
import type { Database } from '../../src/database/index.ts';
import { mapClient } from './mapClient.ts';

export interface Dying {
  duchy: Duchy;
  /** Returns whether the process has died. */
  isDead(): boolean;
}

/**
 * Returns a copy of the duchy that dies at the `n`-th call to the database, the exchange or another duchy, or never if
 * `n` is 0. It dies before the call, or after the call took effect but before the outcome is known. Only stress runs
 * count calls that just read, because such calls change no state.
 */
export function dyingAt(duchy: Duchy, n: number, when: 'before' | 'after'): Dying {
  let count = 0;
  let dead = false;
  async function step<T>(deal: () => Promise<T>, isRead = false): Promise<T> {
    if (dead) throw new Error('dead');
    const isLast = (isStress || !isRead) && ++count === n;
    if (isLast && when === 'before') dead = true;
    if (dead) throw new Error('dies');
    const outcome = await deal();
    if (isLast) dead = true;
    if (dead) throw new Error('dies');
    return outcome;
  }
  const db = new Proxy(duchy.db, {
    get(target, member: keyof Database) {
      if (member === 'query')
        return (...args: Parameters<Database['query']>) =>
          step(() => target.query(...args), /^\s*SELECT\b/.test(args[0].text));
      if (member === 'tx') return (...args: Parameters<Database['tx']>) => step(() => target.tx(...args));
      return target[member];
    },
  });
  const client = mapClient(
    duchy.client,
    (call, operation) => (args) =>
      operation.startsWith('list')
        ? listing(() => step(() => Array.fromAsync(call(args) as AsyncIterable<unknown>), true))
        : step(() => call(args) as Promise<unknown>, operation.startsWith('get')),
  );
  const send: typeof fetch = (...args) => step(() => fetch(...args));
  return { duchy: { ...duchy, db, client, fetch: send }, isDead: () => dead };
}

/** Returns an iterable that calls `read` when the iteration starts. */
function listing<T>(read: () => Promise<T[]>): AsyncIterable<T> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* await read();
    },
  };
}
