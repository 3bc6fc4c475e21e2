import type { EventGroup } from '@measurement-exchange/contract';
import { beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../client/clock.ts';
import { ExchangeError } from '../../client/index.ts';
import { NotRecordedYet } from './deferral.ts';
import { Retries, WAITING_PER_CONSUMER } from './retries.ts';
import { NotServed } from './served.ts';

const NOW = Date.UTC(2026, 6, 28);
const HOUR = 3600_000;

/**
 * Maps each event group either to the end of its recorded events, or to the error that reading the event group throws.
 */
let groups: Record<string, string | Error>;
let reads: string[];
let polls: number[];
let confirmed: Set<string>;
let retries: Retries;

beforeEach(() => {
  groups = { a: '2026-07-01T00:00:00Z', b: '2026-07-01T00:00:00Z' };
  reads = [];
  polls = [];
  confirmed = new Set();
  retries = new Retries({
    clock: { ...systemClock, now: () => NOW },
    fetchEventGroup: async (name) => {
      reads.push(name);
      const endTime = groups[name]!;
      if (endTime instanceof Error) throw endTime;
      return { dataAvailabilityInterval: { startTime: '2026-01-01T00:00:00Z', endTime } } as EventGroup;
    },
    isServed: (reference) => confirmed.has(reference),
    pollIn: (ms) => polls.push(ms),
    log: () => {},
  });
});

const of = (name: string, consumer = 'acme') => ({
  name,
  measurement: `measurementConsumers/${consumer}/measurements/m`,
});
const defer = (name: string, eventGroup: string, end = '2026-07-20') =>
  retries.defer(
    of(name),
    NOW + HOUR,
    new NotRecordedYet('later', { eventGroup, end: new Date(end), completeAt: NOW + 9 * HOUR }),
  );
const due = () => [...retries.names()].filter((name) => retries.isDue(name));

it('a deferred requisition is due at the end of its deferral, or immediately if its events are recorded', async () => {
  await defer('r1', 'a');
  groups.b = '2026-07-20T00:00:00Z';
  await defer('r2', 'b');
  expect(due()).toEqual(['r2']);
  retries.arm('r1');
  retries.arm('r2');
  expect(polls).toEqual([HOUR, -NOW]);
});

it('release makes requisitions with recorded events due, with one read of each event group', async () => {
  await defer('r1', 'a');
  await defer('r2', 'a', '2026-07-21');
  await defer('r3', 'b');
  retries.retry(of('r4'), new Error('failed'));
  reads = [];
  groups = { a: '2026-07-20T12:00:00Z', b: '2026-07-20T12:00:00Z' };
  await retries.release(new Set(['a', 'c']));
  expect(due()).toEqual(['r1']);
  expect(reads).toEqual(['a']);
  await retries.release();
  expect(due()).toEqual(['r1', 'r3']);
  expect(reads).toEqual(['a', 'a', 'b']);
});

it('release skips a deleted event group, and stops if the exchange is unavailable', async () => {
  await defer('r1', 'a');
  await defer('r2', 'b');
  reads = [];
  groups = { a: new ExchangeError('UNAVAILABLE', 'later'), b: '2026-07-20T00:00:00Z' };
  await retries.release();
  expect(reads).toEqual(['a']);
  groups.a = new ExchangeError('EVENT_GROUP_NOT_FOUND', 'gone');
  await retries.release();
  expect(due()).toEqual(['r2']);
});

it('a requisition stays deferred if its event group cannot be read', async () => {
  groups.a = new ExchangeError('UNAVAILABLE', 'later');
  await defer('r1', 'a');
  expect([...retries.names()]).toEqual(['r1']);
  expect(due()).toEqual([]);
});

it('consecutive deferrals are counted, even with a failure between them', async () => {
  await defer('r1', 'a');
  retries.retry(of('r1'), new Error('failed'));
  await defer('r1', 'a');
  expect(retries.deferrals('r1')).toBe(2);
  expect(retries.deferrals('r2')).toBe(0);
});

it('held requisitions are due when all of their references are confirmed', async () => {
  await retries.defer(of('r1'), NOW + HOUR, new NotServed(['spring', 'summer']));
  await retries.defer(of('r2'), NOW + HOUR, new NotServed(['spring']));
  confirmed.add('summer');
  await retries.release();
  expect(due()).toEqual([]);
  confirmed.add('spring');
  await retries.release(new Set());
  expect(due()).toEqual(['r1', 'r2']);
});

it('hasRoomFor returns false for a consumer at its limit, until one of its requisitions is deleted', () => {
  for (let n = 0; n < WAITING_PER_CONSUMER; n++) retries.retry(of(`r${n}`), new Error('failed'));
  expect(retries.hasRoomFor(of('another'))).toBe(false);
  expect(retries.hasRoomFor(of('another', 'globex'))).toBe(true);
  // A requisition that already waits can be retried, and is counted once.
  expect(retries.hasRoomFor(of('r0'))).toBe(true);
  retries.retry(of('r0'), new Error('failed again'));
  retries.delete('r1');
  expect(retries.hasRoomFor(of('another'))).toBe(true);
  retries.delete('r1');
  retries.retry(of('another'), new Error('failed'));
  expect(retries.hasRoomFor(of('one more'))).toBe(false);
});

it.each([
  ['a wait of five minutes', { retryAfterSeconds: 300 }, 300_000, 300_000],
  ['a wait of a day, which is limited to an hour', { retryAfterSeconds: 86_400 }, 3600_000, 3600_000],
  ['no wait', {}, 500, 1000],
  ['a wait shorter than the backoff', { retryAfterSeconds: 0.1 }, 500, 1000],
])('after a failure that asks for %s, a retry is due at the logged time', (_what, details, least, most) => {
  let inMs = 0;
  let now = NOW;
  const asked = new Retries({
    clock: { ...systemClock, now: () => now },
    fetchEventGroup: () => Promise.reject(new Error('not needed')),
    isServed: () => true,
    pollIn: () => {},
    log: (event) => {
      if (event.type === 'retrying') ({ inMs } = event);
    },
  });
  asked.retry(of('r'), Object.assign(new Error('later'), details));
  expect(inMs).toBeGreaterThanOrEqual(least);
  expect(inMs).toBeLessThanOrEqual(most);
  now = NOW + inMs - 1;
  expect(asked.isDue('r')).toBe(false);
  now = NOW + inMs;
  expect(asked.isDue('r')).toBe(true);
});
