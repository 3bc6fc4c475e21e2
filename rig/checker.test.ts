import { describe, expect, it } from 'vitest';
import { isLinearizable, lostWrites, type Operation } from './checker.ts';
import { anyInput } from './inputs.ts';
import { apply, created, type Input, type Output, type State } from './model.ts';
import { Random } from './random.ts';

const HISTORIES = 500;

/** Generates a valid history: every operation takes effect at one moment between its call and its return. */
function happened(random: Random, length: number, requisitions: number): Operation[] {
  let state: State = created(requisitions);
  const operations: Operation[] = [];
  for (let moment = 1; moment <= length; moment++) {
    const input = anyInput(random, requisitions);
    const [call, end] = [moment - random.int(80) / 10 - 0.1, moment + random.int(80) / 10 + 0.1];
    if (random.chance(0.1)) {
      // The client does not learn the outcome of one in ten operations. Half of those operations take effect.
      if (random.chance(0.5)) state = apply(state, input)[0];
      operations.push({ input, output: undefined, call, return: end });
      continue;
    }
    const [next, output] = apply(state, input);
    state = next;
    operations.push({ input, output, call, return: end });
  }
  return operations.sort((a, b) => a.call - b.call);
}

/**
 * Checks linearizability by its definition, for short histories: tries every order of the operations. An operation
 * whose outcome is unknown is tried with and without its effect.
 */
function byDefinition(operations: Operation[], state: State): boolean {
  if (operations.every(({ output }) => output === undefined)) return true;
  return operations.some((first) => {
    const others = operations.filter((operation) => operation !== first);
    const tooLate = others.some((other) => other.output !== undefined && other.return < first.call);
    if (tooLate) return false;
    const [next, output] = apply(state, first.input);
    return (first.output === undefined || first.output === output) && byDefinition(others, next);
  });
}

type Mutation = (operations: Operation[], random: Random, requisitions: number) => Operation[] | undefined;

const END = 1e6;
const after = (operations: Operation[], input: Input, output: Output): Operation[] => [
  ...operations,
  { input, output, call: END, return: END + 1 },
];

function finalRead(i: number, state: string, measurement: string): [Input, Output] {
  return [
    { kind: 'getRequisition', i },
    `OK ${state} of ${measurement}, etag ${state === 'UNFULFILLED' ? 1 : 2}`,
  ];
}

const known = ({ output }: Operation) => output !== undefined;
const acknowledged = (operations: Operation[]) =>
  operations.filter(
    (o) => (o.input.kind === 'fulfill' || o.input.kind === 'refuse') && o.output?.startsWith('OK'),
  ) as (Operation & { input: { i: number } })[];

/**
 * Each mutation makes a history that no order of its operations can explain. The mutation returns undefined if the
 * history has no operation that it can change.
 */
const MUTATIONS: Record<string, Mutation> = {
  'an acknowledged change is missing at the end': (operations, random) => {
    const lost = acknowledged(operations);
    if (lost.length === 0) return undefined;
    const { i } = random.pick(lost).input;
    return after(operations, ...finalRead(i, 'UNFULFILLED', 'AWAITING_REQUISITION_FULFILLMENT'));
  },
  'the same requisition is changed twice': (operations, random) => {
    const [first] = acknowledged(operations);
    if (first === undefined) return undefined;
    return [...operations, { ...first, call: random.int(20), return: END }];
  },
  'a current etag is rejected as stale': (operations, _random, requisitions) =>
    after(
      operations
        .filter((o) => !('i' in o.input) && o.input.kind !== 'cancel' && known(o))
        .filter(unchanged(requisitions)),
      { kind: 'refuse', i: 0, etag: 1 },
      'REQUISITION_ETAG_MISMATCH',
    ),
  'an etag that never existed is accepted': (operations) =>
    after(operations, { kind: 'refuse', i: 0, etag: 0 }, 'OK REFUSED of FAILED, etag 2'),
  'a wrong nonce is accepted': (operations) =>
    after(
      operations,
      { kind: 'fulfill', i: 0, etag: 1, nonce: 'wrong', certificate: 'own' },
      'OK FULFILLED of SUCCEEDED, etag 2',
    ),
  'a fulfilled requisition is withdrawn': (operations) => {
    const fulfilled = acknowledged(operations).find((o) => o.input.kind === 'fulfill');
    if (fulfilled === undefined) return undefined;
    return after(operations, ...finalRead(fulfilled.input.i, 'WITHDRAWN', 'CANCELLED'));
  },
  'a measurement does not continue after all requisitions are fulfilled': (
    operations,
    _random,
    requisitions,
  ) =>
    after(
      operations,
      { kind: 'listRequisitions' },
      `OK ${Array(requisitions).fill('FULFILLED').join(' ')} of AWAITING_REQUISITION_FULFILLMENT`,
    ),
  'a measurement leaves its final state': (operations) => [
    ...after(operations, { kind: 'getMeasurement' }, 'OK CANCELLED failed by -1, 0 results'),
    {
      input: { kind: 'getMeasurement' },
      output: 'OK AWAITING_REQUISITION_FULFILLMENT failed by -1, 0 results',
      call: END + 2,
      return: END + 3,
    },
  ],
  'a cascade is half done': (operations, _random, requisitions) =>
    after(
      operations,
      { kind: 'listRequisitions' },
      `OK ${['REFUSED', ...Array(requisitions - 1).fill('UNFULFILLED')].join(' ')} of FAILED`,
    ),
  'a read returns an outdated state': (operations) => {
    const change = acknowledged(operations)[0];
    if (change === undefined) return undefined;
    const call = change.return + 0.001;
    const [input, output] = finalRead(change.input.i, 'UNFULFILLED', 'AWAITING_REQUISITION_FULFILLMENT');
    return [...operations, { input, output, call, return: call + 5 }];
  },
};

/** Returns a filter for reads that show a measurement without any changes. */
function unchanged(requisitions: number): (operation: Operation) => boolean {
  return ({ input, output }) => apply(created(requisitions), input)[1] === output;
}

describe('the checker', () => {
  it(`accepts ${HISTORIES} linearizable histories`, () => {
    for (let seed = 0; seed < HISTORIES; seed++) {
      const random = new Random(seed);
      const requisitions = 1 + random.int(3);
      const operations = happened(random, 5 + random.int(40), requisitions);
      expect(isLinearizable(operations, created(requisitions)), `seed ${seed}`).toBe(true);
    }
  });

  for (const [name, mutate] of Object.entries(MUTATIONS)) {
    it(`rejects ${HISTORIES / 5} histories in which ${name}`, () => {
      let rejected = 0;
      for (let seed = 0; rejected < HISTORIES / 5; seed++) {
        const random = new Random(1_000_000 + seed);
        // Use at least two requisitions, because the mutation 'a cascade is half done' needs a second one.
        const requisitions = 2 + random.int(2);
        const mutated = mutate(happened(random, 5 + random.int(40), requisitions), random, requisitions);
        if (mutated === undefined) continue;
        expect(isLinearizable(mutated, created(requisitions)), `seed ${seed}`).toBe(false);
        rejected++;
      }
    });
  }

  it('agrees with the definition of linearizability on 3,000 short histories', () => {
    let [yes, no] = [0, 0];
    for (let seed = 0; seed < 3_000; seed++) {
      const random = new Random(2_000_000 + seed);
      const operations = happened(random, 2 + random.int(5), 2);
      // Replace some responses with those of other operations, and move some calls to a later time.
      for (const operation of operations) {
        if (known(operation) && random.chance(0.1))
          operation.output = random.pick(operations.filter(known)).output;
        if (random.chance(0.2)) operation.call += random.int(4);
        operation.return = Math.max(operation.return, operation.call + 0.05);
      }
      const expected = byDefinition(operations, created(2));
      expect(isLinearizable(operations, created(2)), `seed ${seed}`).toBe(expected);
      if (expected) yes++;
      else no++;
    }
    expect(Math.min(yes, no)).toBeGreaterThan(300);
  });
});

describe('the count of lost acknowledgements', () => {
  const change = (input: Input, output: Output | undefined): Operation => ({
    input,
    output,
    call: 1,
    return: 2,
  });
  const fulfill = (i: number): Input => ({ kind: 'fulfill', i, etag: 1, nonce: 'right', certificate: 'own' });
  const operations = [
    change(fulfill(0), 'OK FULFILLED of AWAITING_REQUISITION_FULFILLMENT, etag 2'),
    change(fulfill(1), undefined),
    change(fulfill(1), 'REQUISITION_ETAG_MISMATCH'),
    change({ kind: 'cancel' }, 'OK CANCELLED failed by -1, 0 results'),
    change({ kind: 'getRequisition', i: 0 }, 'OK FULFILLED of CANCELLED, etag 2'),
  ];

  it('is 0 if the last read shows every acknowledged change', () => {
    expect(lostWrites(operations, 'OK FULFILLED WITHDRAWN of CANCELLED')).toBe(0);
  });

  it('counts each acknowledged change that the last read does not show', () => {
    expect(lostWrites(operations, 'OK UNFULFILLED WITHDRAWN of CANCELLED')).toBe(1);
    expect(lostWrites(operations, 'OK UNFULFILLED UNFULFILLED of AWAITING_REQUISITION_FULFILLMENT')).toBe(2);
  });

  it('counts every acknowledged change if the measurement itself is missing', () => {
    expect(lostWrites(operations, 'MEASUREMENT_NOT_FOUND')).toBe(2);
  });
});
