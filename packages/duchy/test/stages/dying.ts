/** A process that dies at a certain moment: nothing that it does from then on has an effect. */
import { isStress } from '@measurement-exchange/testkit/rounds';
import type { Duchy } from '../../src/computations/context.ts';
import type { Database } from '../../src/database/index.ts';
import { mapClient } from './mapClient.ts';

export interface Dying {
  duchy: Duchy;
  /** Whether it came to that moment. */
  isDead(): boolean;
}

/**
 * Dies at its n-th dealing with the database, the exchange or another duchy: before it, or after it took effect and before
 * the outcome is known. Without stress, a dealing that only reads does not count: after it, all is as before it.
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

/** A list is read when it is iterated. */
function listing<T>(read: () => Promise<T[]>): AsyncIterable<T> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* await read();
    },
  };
}
