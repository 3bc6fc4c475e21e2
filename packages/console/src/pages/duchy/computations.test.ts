import type { Computation } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { computationTitle, waitsFor } from './computations.ts';
import { peersOf, rootOf } from './peers.ts';

const computation = (state: Computation['state']) =>
  ({
    state,
    measurementConsumer: 'measurementConsumers/acme',
    participants: {
      'duchies/a': { role: 'FIRST_WORKER', state: 'CREATED' },
      'duchies/b': { role: 'AGGREGATOR', state: 'PARAMS_SET' },
    },
    requisitions: [
      { dataProvider: 'dataProviders/x', state: 'UNFULFILLED' },
      { dataProvider: 'dataProviders/y', state: 'FULFILLED' },
    ],
    updateTime: '2026-11-18T10:00:00Z',
  }) as unknown as Computation;

it.each([
  ['PENDING_PARAMS', ['duchies/a']],
  ['PENDING_FULFILLMENT', ['dataProviders/x']],
  ['PENDING_CONFIRMATION', ['duchies/b']],
  ['COMPUTING', ['duchies/b']],
  ['FAILED', []],
] as const)('a computation in %s waits for %j', (state, parties) => {
  expect(waitsFor(computation(state))).toEqual(parties);
});

it('computationTitle names the parties that the computation waits for', () => {
  const wait = (party: string) => ({ party, code: 'PARAMETERS_MISSING' });
  const explanation = { waitingFor: [wait('duchies/a'), wait('duchies/b')], risks: [], summary: '' };
  const title = computationTitle(explanation as never, computation('PENDING_PARAMS'), (party) =>
    party === 'duchies/a' ? 'You' : 'Beta',
  );
  expect(title).toBe('It waits for the keys of you and Beta');
});

it('peersOf counts the computations of each party, and rootOf returns own, shared or missing', () => {
  const peers = peersOf([computation('COMPUTING'), computation('FAILED')], 'duchies/a');
  expect(peers.map(({ party, computations }) => [party, computations])).toEqual([
    ['dataProviders/x', 2],
    ['dataProviders/y', 2],
    ['duchies/b', 2],
    ['measurementConsumers/acme', 2],
  ]);
  const root = { subject: '', fingerprint: '', notBefore: '', notAfter: '' };
  expect(rootOf('duchies/b', { roots: [{ ...root, party: 'duchies/b' }] })).toBe('own');
  expect(rootOf('duchies/b', { roots: [root] })).toBe('shared');
  expect(rootOf('duchies/b', { roots: [{ ...root, party: 'duchies/c' }] })).toBe('missing');
});
