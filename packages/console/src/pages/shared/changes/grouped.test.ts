import type { Change } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { grouped, ofSeveral } from './grouped.ts';

const change = (name: string, kind: string, state: string, version = 2) =>
  ({ name: `measurementConsumers/a/measurements/${name}`, kind, state, version, time: '' }) as Change;

it('grouped joins adjacent equal changes of one resource, or of requests of one measurement', () => {
  const answered = (id: string) => change(id, 'REQUISITION', 'FULFILLED');
  const log = [
    answered('x/requisitions/1'),
    answered('x/requisitions/2'),
    change('x/requisitions/3', 'REQUISITION', 'REFUSED'),
    answered('y/requisitions/4'),
    change('y', 'MEASUREMENT', 'COMPUTING'),
    change('y', 'MEASUREMENT', 'COMPUTING', 3),
  ];
  expect(grouped(log).map((group) => group.length)).toEqual([2, 1, 1, 2]);
});

it('ofSeveral returns the plural form of a phrase', () => {
  expect(['was answered', 'is new', 'waits for an answer', 'failed'].map(ofSeveral)).toEqual([
    'were answered',
    'are new',
    'wait for an answer',
    'failed',
  ]);
});
