import type { Explanation, Progress, Requisition, Wait } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { whyItWaits } from './why.ts';
import { refusedDay, whyItEnded } from './whyEnded.ts';

const NOW = Date.parse('2026-11-17T15:00:00Z');
const CHIRPER = 'dataProviders/chirper';
const BETA = 'duchies/beta';
const MEASUREMENT = 'measurementConsumers/acme/measurements/m1';
const NAMES: Record<string, string> = {
  [CHIRPER]: 'Chirper',
  [BETA]: 'Beta',
  'dataProviders/streamly': 'Streamly',
};
const protocolConfig = {
  honestMajorityShareShuffle: {
    firstWorker: BETA,
    secondWorker: 'duchies/alpha',
    aggregator: 'duchies/gamma',
  },
} as never;
const nameOf = (party: string) => NAMES[party]!;

const wait = (code: Wait['code'], more: Partial<Wait> = {}): Wait => ({
  party: CHIRPER,
  code,
  since: '2026-11-17T14:59:30Z',
  lastSeen: '2026-11-17T14:59:49Z',
  detail: `${CHIRPER} owes ${MEASUREMENT}/requisitions/r1.`,
  remedy: `Ask ${CHIRPER}.`,
  ...more,
});
const waiting = (...waitingFor: Wait[]): Explanation => ({
  state: 'COMPUTING',
  since: '2026-11-17T14:56:00Z',
  summary: '',
  waitingFor,
  risks: [],
  nextDeadline: '2026-12-01T14:30:00Z',
});
const report = (time: string, progress: number, attempt = 1): Progress => ({
  duchy: BETA,
  time: `2026-11-17T${time}Z`,
  stage: 'SHUFFLE_PHASE',
  attempt,
  message: 'In progress.',
  progress,
});
const why = (explanation: Explanation, requisitions: Requisition[] = [], reports: Progress[] = []) =>
  whyItWaits(explanation, { requisitions, reports, protocolConfig, nameOf, now: NOW })!;

it('whyItWaits shows the awaited party, since when, the deadline, and that there is nothing to do', () => {
  expect(why(waiting(wait('ASKED')))).toMatchObject({
    tone: 'run',
    chip: 'Waits for Chirper',
    title: 'Chirper was asked 30 s ago',
    lastSeen: 'Chirper was last seen 11 s ago',
    deadline: 'Ends without a result on December 1, 14:30 UTC',
    todo: 'Nothing for you to do.',
  });
});

it('whyItWaits shows the date of a deferral, and quotes its reason', () => {
  const deferral = { reason: 'events of November 15 come late', until: '2026-11-18T02:00:00Z' };
  const requisition = { dataProvider: CHIRPER, state: 'UNFULFILLED', deferral } as Requisition;
  expect(why(waiting(wait('DEFERRED')), [requisition])).toMatchObject({
    tone: 'warn',
    title: 'Chirper will have the data on November 18, 02:00 UTC',
    quote: 'events of November 15 come late',
  });
});

it('whyItWaits warns about an upload that is missing for 11 minutes, but not for 30 seconds', () => {
  expect(why(waiting(wait('UPLOAD_MISSING')))).toMatchObject({
    tone: 'run',
    title: 'Chirper was asked 30 s ago',
  });
  const late = why(waiting(wait('UPLOAD_MISSING', { since: '2026-11-17T14:49:00Z' })));
  expect(late).toMatchObject({ tone: 'warn', title: 'Chirper has not sent its data yet' });
});

it('whyItWaits shows the progress of a duchy and the estimated remaining time', () => {
  const setUp = { ...report('14:57:00', 1), stage: 'SETUP_PHASE' };
  const reports = [setUp, report('14:58:00', 0.1), report('14:59:00', 0.5), report('14:59:30', 0.7)];
  const running = why(waiting(wait('STAGE_RUNNING', { party: BETA })), [], reports);
  expect(running).toMatchObject({ title: 'Beta is shuffling: 70 %, about 45 s left', share: 0.7 });
  const silent = why(waiting(wait('STAGE_RUNNING', { party: BETA })), [], [setUp]);
  expect(silent.title).toBe('Beta is shuffling');
});

it('whyItWaits shows other waits with the text of the exchange and display names', () => {
  const offline = why(waiting(wait('OFFLINE'), wait('ASKED', { party: 'dataProviders/streamly' })));
  expect(offline.text).toBe('Chirper owes the request. It waits for Streamly as well.');
  expect(offline.todo).toBe('Ask Chirper.');
});

const QUESTION = {
  type: 'reach' as const,
  dataProviders: [
    {
      name: CHIRPER,
      eventGroups: [{ name: 'x', interval: { start: '2026-10-01T00:00:00Z', end: '2026-11-01T00:00:00Z' } }],
    },
  ],
};
const refused = (message: string): Requisition =>
  ({
    dataProvider: CHIRPER,
    state: 'REFUSED',
    refusal: { justification: 'INSUFFICIENT_PRIVACY_BUDGET', message },
  }) as Requisition;
const ended = (code: NonNullable<Explanation['ending']>['code']): Explanation => ({
  ...waiting(),
  ending: { code, detail: `${CHIRPER} did it.`, remedy: '' },
});

it('whyItEnded names the day whose budget is used up', () => {
  const message = 'BUDGET_EXCEEDED at events[0], day 31';
  expect(refusedDay(message, QUESTION, CHIRPER)?.toISOString().slice(0, 10)).toBe('2026-10-31');
  const about = { requisitions: [refused(message)], question: QUESTION, nameOf };
  expect(whyItEnded(ended('REFUSED'), about)).toMatchObject({
    tone: 'bad',
    title: "Chirper's budget for October 31 is used up",
    code: `INSUFFICIENT_PRIVACY_BUDGET · ${message}`,
  });
});

it('whyItEnded quotes a refusal without a code, and returns undefined for a success', () => {
  const about = { requisitions: [refused('<b>no</b>')], question: undefined, nameOf };
  expect(whyItEnded(ended('REFUSED'), about)!.quote).toBe('<b>no</b>');
  expect(whyItEnded(ended('SUCCEEDED'), about)).toBeUndefined();
  expect(whyItEnded(ended('DEADLINE_MISSED'), about)!.text).toBe('Chirper did it.');
});
