import type { Progress, Requisition } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { lanesOf } from './stages.ts';
import { momentsOf, problemsOf } from './timeline.ts';

const NOW = Date.parse('2026-11-17T15:00:00Z');
const [ALPHA, BETA, GAMMA] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'];
const nameOf = (party: string) => party.split('/')[1]!;
const protocolConfig = {
  honestMajorityShareShuffle: { firstWorker: ALPHA, secondWorker: BETA, aggregator: GAMMA },
} as never;
const request = (provider: string, state: Requisition['state'], fulfillingDuchy = ALPHA): Requisition =>
  ({
    name: `measurementConsumers/acme/measurements/m1/requisitions/${provider}`,
    dataProvider: `dataProviders/${provider}`,
    state,
    fulfillingDuchy,
  }) as Requisition;
const report = (duchy: string, stage: string, time: string, progress: number, more = {}): Progress => ({
  duchy,
  stage,
  time: `2026-11-17T${time}Z`,
  attempt: 1,
  message: progress === 1 ? 'Done.' : 'In progress.',
  progress,
  ...more,
});

const REPORTS = [
  report(ALPHA, 'SETUP_PHASE', '14:58:41', 1),
  report(BETA, 'SETUP_PHASE', '14:58:41', 1),
  report(ALPHA, 'SHUFFLE_PHASE', '14:58:42', 0.1),
  report(ALPHA, 'SHUFFLE_PHASE', '14:59:20', 1),
  report(BETA, 'SHUFFLE_PHASE', '14:58:48', 0.64, { attempt: 2 }),
];

it('lanesOf returns a lane for each duchy with the state of each stage', () => {
  const about = {
    protocolConfig,
    state: 'COMPUTING',
    requisitions: [request('s', 'FULFILLED'), request('c', 'FULFILLED'), request('d', 'FULFILLED', BETA)],
    reports: REPORTS,
    waitsFor: [BETA],
  };
  const { stages, lanes } = lanesOf(about, nameOf, NOW)!;
  expect(stages).toEqual(['Receive', 'Set up', 'Shuffle, add noise', 'Count']);
  const cells = lanes.map(({ cells }) => cells.map(({ title, detail }) => [title, detail].join(' ').trim()));
  expect(cells).toEqual([
    ['2 of 2', 'Done', 'Done 38 s', 'Not its part'],
    ['1 of 1', 'Done', 'Running, 64 % since 1 min 12 s, attempt 2', 'Not its part'],
    ['Not its part', 'Not its part', 'Not its part', 'Waits for beta'],
  ]);
});

it('lanesOf returns undefined for a direct measurement', () => {
  const about = {
    protocolConfig: { direct: {} },
    state: 'COMPUTING',
    requisitions: [],
    reports: [],
    waitsFor: [],
  };
  expect(lanesOf(about, nameOf, NOW)).toBeUndefined();
});

it('momentsOf lists events oldest first, and problemsOf returns the problems among them', () => {
  const measurement = 'measurementConsumers/acme/measurements/m1';
  const step = (resource: string, cause: string, time: string) => ({
    resource,
    to: 'X',
    time: `2026-11-17T${time}Z`,
    actor: 'a',
    cause,
    requestId: 'r',
  });
  const timeline = {
    transitions: [
      step(measurement, 'created', '14:56:02'),
      step(`${measurement}/requisitions/s`, 'created', '14:56:02'),
      step(`${ALPHA}/computations/m1`, 'parametersSet', '14:56:03'),
      step(`${BETA}/computations/m1`, 'parametersSet', '14:56:04'),
      step(`${measurement}/requisitions/s`, 'fulfilled', '14:56:09'),
      step(`${measurement}/requisitions/c`, 'deferred', '14:58:40'),
    ],
    progress: [report(BETA, 'SHUFFLE_PHASE', '14:59:31', 0.2, { message: 'Failed; it is tried again.' })],
  };
  const moments = momentsOf(timeline, [request('s', 'FULFILLED'), request('c', 'UNFULFILLED')], nameOf);
  expect(moments.map(({ who, text, detail }) => [`${who} ${text}`.trim(), detail])).toEqual([
    ['You asked 2 publishers', undefined],
    ['alpha and beta made keys', '+ 2 s'],
    ['s answered', '+ 5 s'],
    ['c deferred the request', '+ 2 min 31 s'],
    ['beta failed while shuffling', 'Attempt 1; tried again'],
  ]);
  expect(problemsOf(moments).map(({ who, text }) => `${who} ${text}`)).toEqual([
    'c deferred the request',
    'beta failed while shuffling',
  ]);
});
