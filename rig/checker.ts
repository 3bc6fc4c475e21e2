/**
 * Checks linearizability: is there an order of the operations, each between its call and its return, in which the model
 * gives every response? The search is that of Wing and Gong (1993) with the memoization of Lowe (2017). It continues
 * only once from each combination of completed operations and resulting state. A read that agrees with the current
 * state is placed immediately, because it cannot conflict with other operations. Only the few operations that change
 * the state are tried in different orders.
 */
import { apply, type Input, type Output, type State } from './model.ts';

export interface Operation {
  input: Input;
  /** Undefined if the outcome is unknown: the operation took effect at some time after its call, or never. */
  output: Output | undefined;
  call: number;
  /** Ignored if the output is undefined. */
  return: number;
}

/** Counts the acknowledged changes that are missing from the last read of the requisitions. */
export function lostWrites(operations: readonly Operation[], lastRead: Output): number {
  const [, states = '', measurement] = /^OK (.*) of (\w+)$/.exec(lastRead) ?? [];
  const requisitions = states.split(' ');
  return operations.filter(({ input, output }) => {
    if (!output?.startsWith('OK')) return false;
    if (input.kind === 'fulfill') return requisitions[input.i] !== 'FULFILLED';
    if (input.kind === 'refuse') return requisitions[input.i] !== 'REFUSED';
    return input.kind === 'cancel' && measurement !== 'CANCELLED';
  }).length;
}

export function isLinearizable(operations: readonly Operation[], initial: State): boolean {
  const all = operations.map((operation, i) => ({ ...operation, bit: 1n << BigInt(i) }));
  const tried = new Set<string>();

  /**
   * `next` has the operations that may come next. They were called before the first of the remaining operations
   * returned. `left` is the number of remaining operations whose outcome is known.
   */
  const candidates = (done: bigint) => {
    const rest = all.filter(({ bit }) => (done & bit) === 0n);
    const returned = rest.filter(({ output }) => output !== undefined);
    const firstReturn = Math.min(...returned.map((operation) => operation.return));
    return { left: returned.length, next: rest.filter(({ call }) => call <= firstReturn) };
  };

  const search = (from: bigint, state: State): boolean => {
    let done = from;
    let found = candidates(done);
    for (let before = -1n; before !== done; found = candidates(done)) {
      before = done;
      for (const { bit, input, output } of found.next) {
        const [after, expected] = apply(state, input);
        if (after === state && output === expected) done |= bit;
      }
    }
    if (found.left === 0) return true;
    const key = `${done} ${state.measurement} ${state.requisitions}`;
    if (tried.has(key)) return false;
    tried.add(key);
    return found.next.some(({ bit, input, output }) => {
      const [after, expected] = apply(state, input);
      return after !== state && (output ?? expected) === expected && search(done | bit, after);
    });
  };
  return search(0n, initial);
}
