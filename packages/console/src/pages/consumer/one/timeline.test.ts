import type { Progress, Requisition, Timeline } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { momentsOf } from './timeline.ts';

const MEASUREMENT = 'measurementConsumers/a/measurements/m';
const nameOf = (name: string) => name.split('/').at(-1)!;
const at = (second: number) => `2026-01-01T00:00:0${second}Z`;

it('momentsOf shows a finding only in the line of the party that it is about', () => {
  const requisitions = ['p', 'q'].map((id) => ({
    name: `${MEASUREMENT}/requisitions/${id}`,
    dataProvider: id,
  }));
  const findings = [{ message: 'Odd.' }];
  const transitions = requisitions.map(({ name }, i) => ({
    ...{ resource: name, time: at(i), cause: 'fulfilled' },
    ...(i === 0 && { findings }),
  }));
  const moments = momentsOf({ transitions } as unknown as Timeline, requisitions as Requisition[], nameOf);
  expect(moments.map(({ who, text, detail }) => [who, text, detail])).toEqual([
    ['p', 'answered', 'Odd.'],
    ['q', 'answered', '+ 1 s'],
  ]);
});

it('momentsOf shows each step of the duchies once, in one line for all duchies', () => {
  const duchies = ['duchies/beta', 'duchies/alpha'];
  const transitions = duchies.flatMap((duchy) => [
    { resource: `${duchy}/computations/m`, time: at(1), cause: 'parametersSet' },
    { resource: `${duchy}/computations/m`, time: at(3), cause: 'confirmed' },
  ]);
  const progress = duchies.flatMap((duchy) =>
    [
      ['INITIALIZATION_PHASE', 1],
      ['CONFIRMATION_PHASE', 3],
      ['SETUP_PHASE', 5],
    ].map(([stage, second]) => ({
      duchy,
      stage,
      attempt: 1,
      time: at(Number(second)),
      message: '',
      progress: 1,
    })),
  ) as Progress[];
  const created = { resource: MEASUREMENT, time: at(0), cause: 'created' };
  const timeline = { transitions: [created, ...transitions], progress } as unknown as Timeline;
  expect(momentsOf(timeline, [], nameOf).map(({ who, text }) => `${who} ${text}`.trim())).toEqual([
    'You asked 0 publishers',
    'alpha and beta made keys',
    'alpha and beta received all data',
    'alpha and beta set up',
  ]);
});
