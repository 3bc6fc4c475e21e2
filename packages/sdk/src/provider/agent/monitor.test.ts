import { expect, it } from 'vitest';
import { Monitor } from './monitor.ts';

const START = Date.parse('2026-07-01T00:00:00Z');
const clock = { now: () => START, sleep: async () => {} };
const named = (id: number) => `dataProviders/p/requisitions/r${id}`;
const open = (id: number, createTime: string) => ({
  name: named(id),
  state: 'UNFULFILLED' as const,
  createTime,
});

it('the status contains the oldest open requisition and the next retries, without closed requisitions', () => {
  const monitor = new Monitor(clock, 45_000);
  expect(monitor.status()).toMatchObject({ open: 0, waiting: 0, nextRetries: [] });
  monitor.sawOpen(open(1, '2026-06-30T00:00:00Z'));
  monitor.sawOpen(open(2, '2026-06-29T00:00:00Z'));
  monitor.observe({ type: 'retrying', requisition: named(1), attempt: 1, inMs: 5000, why: 'busy' });
  monitor.observe({ type: 'deferred', requisition: named(2), until: '2026-07-02T00:00:00Z', why: 'later' });
  monitor.observe({ type: 'unreachable', why: 'down' });
  expect(monitor.status()).toMatchObject({
    unreachable: 'down',
    open: 2,
    oldestOpen: { requisition: named(2), createTime: '2026-06-29T00:00:00Z' },
    waiting: 2,
    nextRetries: [
      { requisition: named(1), why: 'busy' },
      { requisition: named(2), time: '2026-07-02T00:00:00Z', why: 'later' },
    ],
    counts: { retrying: 1, deferred: 1, fulfilled: 0 },
  });
  monitor.observe({ type: 'received', requisition: named(1), measurement: 'm' });
  monitor.observe({ type: 'fulfilled', requisition: named(1), ms: 1 });
  monitor.polled(new Set([named(2)]));
  expect(monitor.status()).toMatchObject({ open: 1, waiting: 1, counts: { fulfilled: 1 } });
  expect(monitor.status()).toMatchObject({
    pollTime: '2026-07-01T00:00:00.000000Z',
    overdueTime: '2026-07-01T00:01:45.000000Z',
  });
  expect(monitor.status()).not.toHaveProperty('unreachable');
  monitor.polled(new Set());
  expect(monitor.status()).toMatchObject({ open: 0, waiting: 0 });
  expect(monitor.status()).not.toHaveProperty('oldestOpen');
});
