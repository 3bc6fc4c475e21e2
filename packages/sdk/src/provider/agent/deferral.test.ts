import { describe, expect, it } from 'vitest';
import type { ExchangeClient } from '../../client/index.ts';
import type { SelectedEvents } from '../verify/selection.ts';
import { Deferred, defer, NotRecordedYet, requireRecorded } from './deferral.ts';

const [HOUR, DAY] = [3600_000, 24 * 3600_000];
const NOW = Date.UTC(2026, 6, 28);

const selected = (name: string, end: number, recordedUntil?: number): SelectedEvents => ({
  eventGroup: name,
  reference: name,
  interval: { start: new Date(end - DAY), end: new Date(end) },
  ...(recordedUntil !== undefined && { recordedUntil: new Date(recordedUntil) }),
});

/**
 * Returns the event group with missing events, and the time at which this event group counts as complete. Returns
 * undefined if no event group has missing events.
 */
function awaited(events: SelectedEvents[], now: number, graceHours?: number) {
  try {
    requireRecorded({ events }, now, graceHours);
    return undefined;
  } catch (error) {
    const { eventGroup, completeAt } = error as NotRecordedYet;
    return [eventGroup, completeAt];
  }
}

describe('requireRecorded', () => {
  it('accepts recorded intervals, and throws for an incomplete event group at any position', () => {
    const done = (name: string) => selected(name, NOW - DAY, NOW - DAY);
    const lags = selected('lags', NOW - DAY, NOW - DAY - 1);
    const until = NOW - DAY + 7 * DAY;
    expect(awaited([done('a'), done('b'), done('c')], NOW)).toBeUndefined();
    expect(awaited([lags, done('b'), done('c')], NOW)).toEqual(['lags', until]);
    expect(awaited([done('a'), lags, done('c')], NOW)).toEqual(['lags', until]);
    expect(awaited([done('a'), done('b'), lags], NOW)).toEqual(['lags', until]);
  });

  it('accepts an unrecorded interval exactly one week after its end', () => {
    const lags = [selected('early', NOW - 9 * DAY, NOW - 20 * DAY), selected('late', NOW, NOW - 20 * DAY)];
    expect(awaited(lags, NOW + 7 * DAY - 1)).toEqual(['late', NOW + 7 * DAY]);
    expect(awaited(lags, NOW + 7 * DAY)).toBeUndefined();
  });

  it('accepts an unrecorded interval after the configured grace hours', () => {
    const lags = [selected('lags', NOW, NOW - 1)];
    expect(awaited(lags, NOW + 36 * HOUR - 1, 36)).toEqual(['lags', NOW + 36 * HOUR]);
    expect(awaited(lags, NOW + 36 * HOUR, 36)).toBeUndefined();
    expect(awaited(lags, NOW - 1, 0)).toEqual(['lags', NOW]);
    expect(awaited(lags, NOW, 0)).toBeUndefined();
  });

  it('accepts an interval after its end if the event group states no end of its recording', () => {
    const silent = [selected('done', NOW - DAY, NOW), selected('silent', NOW)];
    expect(awaited(silent, NOW - 1)).toEqual(['silent', NOW]);
    expect(awaited(silent, NOW)).toBeUndefined();
  });
});

describe('a deferral', () => {
  /** Defers `times` times. Returns the length, in hours, of each deferral that was sent to the exchange. */
  async function waits(deferred: Deferred, times: number, deferral?: { reason: string; until: string }) {
    const told: number[] = [];
    const client = {
      deferRequisition: async ({ body }: { body: { reason: string; until: string } }) => {
        expect(body.reason).toBe(deferred.reason);
        told.push(Date.parse(body.until) - NOW);
      },
    } as unknown as ExchangeClient;
    const clock = { now: () => NOW, sleep: async () => {} };
    for (let earlier = 0; earlier < times; earlier++) {
      const until = await defer(client, { name: 'r', deferral } as never, { deferred, earlier, clock });
      if (told.length > 0) expect(until - NOW).toBe(told.at(-1));
      else expect(until).toBe(Date.parse(deferral!.until));
    }
    return told.map((ms) => ms / HOUR);
  }
  const notRecorded = (end: number, completeAt: number) =>
    new NotRecordedYet('later', { eventGroup: 'a', end: new Date(end), completeAt });

  it('doubles each time, up to a day', async () => {
    expect(await waits(new Deferred('why', 'Later.'), 8)).toEqual([1, 2, 4, 8, 16, 24, 24, 24]);
    expect(await waits(notRecorded(NOW - DAY, NOW + 6 * DAY), 6)).toEqual([1, 2, 4, 8, 16, 24]);
  });

  it('ends when the events count as complete, not before their interval, and within 1 minute to 29 days', async () => {
    expect(await waits(notRecorded(NOW - DAY, NOW + HOUR / 2), 1)).toEqual([0.5]);
    expect(await waits(notRecorded(NOW + 10 * DAY, NOW + 17 * DAY), 1)).toEqual([240]);
    expect(await waits(notRecorded(NOW + 90 * DAY, NOW + 97 * DAY), 1)).toEqual([29 * 24]);
    expect(await waits(notRecorded(NOW, NOW + 1), 1)).toEqual([1 / 60]);
  });

  it('is sent once for the same reason, and again for another reason or after its end', async () => {
    const until = new Date(NOW + HOUR).toISOString();
    expect(await waits(new Deferred('why', 'Later.'), 1, { reason: 'Later.', until })).toEqual([]);
    expect(await waits(new Deferred('why', 'Later.'), 1, { reason: 'Other.', until })).toEqual([1]);
    const over = { reason: 'Later.', until: new Date(NOW).toISOString() };
    expect(await waits(new Deferred('why', 'Later.'), 1, over)).toEqual([1]);
  });
});
