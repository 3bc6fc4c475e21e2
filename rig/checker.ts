/**
 * Is there an order of these operations, each between its call and its return, in which every response is the
 * model's? The search of Wing and Gong (1993) with Lowe's memory (2017): a set of operations done and the state they
 * led to are looked at once. An operation that changes nothing and agrees with the state is taken at once, because it
 * cannot conflict with another one; so only the few operations that change something are tried in different orders.
 */
import { apply, type Input, type Output, type State } from './model.ts';

export interface Operation {
  input: Input;
  /** Undefined: unknown. It took effect at some time after its call, or never. */
  output: Output | undefined;
  call: number;
  /** Where the output is undefined it is not looked at. */
  return: number;
}

/** How many changes were acknowledged that the last read of the requisitions does not show. */
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

  /** Those that may come next: called before any of the rest has returned. */
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
