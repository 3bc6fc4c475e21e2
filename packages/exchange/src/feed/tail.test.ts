import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ChangePage, PlacedChange, Position } from '../database/changes.ts';
import { compare, Tail } from './tail.ts';

const at = (xid: number): Position => ({ xid: String(xid), seq: 1n });

/** A fake change log. Counts how often it is read. */
class Log {
  rows: PlacedChange[] = [];
  /** Only rows with a smaller transaction ID can be read, as if the transaction with this ID were still running. */
  horizon = Number.POSITIVE_INFINITY;
  reads = 0;
  expired = false;

  append(...xids: number[]): void {
    this.rows.push(...xids.map((xid) => ({ at: at(xid), change: {} as PlacedChange['change'] })));
  }

  read = async (after: Position, limit: number): Promise<ChangePage | undefined> => {
    this.reads++;
    if (this.expired) return undefined;
    const behind = this.rows.filter((row) => compare(row.at, after) > 0);
    const changes = behind.filter((row) => Number(row.at.xid) < this.horizon).slice(0, limit);
    const ahead = behind.find((row) => Number(row.at.xid) >= this.horizon)?.at.xid;
    return { changes, next: changes.at(-1)?.at ?? after, ahead };
  };
}

let log: Log;
let tail: Tail;
/** The transactions that the tail waits for. Calling `done` tells the tail that the transaction's rows can be read. */
let held: { xid: string; done: () => void }[];
beforeEach(() => {
  log = new Log();
  held = [];
  tail = new Tail(log.read, (xid, done) => held.push({ xid, done }), at(0));
});
afterEach(() => tail.stop());

const waitBehind = (after: Position) => new Promise<void>((resolve) => tail.wait(after, resolve));
const xids = (page: ChangePage | undefined) => page?.changes.map((row) => Number(row.at.xid));

it('reads the log once for two hundred followers that wait', async () => {
  const waits = Array.from({ length: 200 }, () => waitBehind(at(0)));
  log.append(1, 2);
  tail.wake();
  await Promise.all(waits);
  expect(log.reads).toBe(1);
  expect(xids(tail.behind(at(0), 10))).toEqual([1, 2]);
  expect(xids(tail.behind(at(1), 10))).toEqual([2]);
  expect(tail.behind(at(2), 10)).toBeUndefined();
});

it('reads again if it is woken during a read', async () => {
  const waits = waitBehind(at(1));
  log.append(1);
  tail.wake();
  log.append(2);
  tail.wake();
  await waits;
  expect(tail.end).toEqual(at(2));
});

it('does not make a follower wait if changes after its position are already in memory', async () => {
  log.append(1);
  tail.wake();
  await waitBehind(at(0));
  await waitBehind(at(0));
});

it('keeps only the latest rows, and returns nothing to a follower that is further behind', async () => {
  log.append(...Array.from({ length: 1500 }, (_, i) => i + 1));
  tail.wake();
  await waitBehind(at(1499));
  expect(tail.behind(at(0), 10)).toBeUndefined();
  expect(tail.behind(at(1243), 10)).toBeUndefined();
  expect(xids(tail.behind(at(1244), 2))).toEqual([1245, 1246]);
  expect(tail.behind(at(1244), 2)!.next).toEqual(at(1246));
});

it('reads again one second after a failed read, but not after it has stopped', async () => {
  vi.useFakeTimers();
  const { read } = log;
  const failing = vi.fn(async () => Promise.reject(new Error('away')));
  const flaky = new Tail(
    (...args) => (failing.mock.calls.length < 2 ? failing() : read(...args)),
    () => {},
    at(0),
  );
  log.append(1);
  flaky.wake();
  await vi.advanceTimersByTimeAsync(999);
  expect(failing).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(failing).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(flaky.end).toEqual(at(1));
  flaky.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

it('reads rows at or after the horizon only when their transaction can be read', async () => {
  log.append(1, 2, 3);
  log.horizon = 2;
  tail.wake();
  await waitBehind(at(0));
  expect(tail.end).toEqual(at(1));
  expect(held.map(({ xid }) => xid)).toEqual(['2']);
  log.horizon = 3;
  const waits = waitBehind(at(1));
  held[0]!.done();
  await waits;
  expect(tail.end).toEqual(at(2));
  expect(held.map(({ xid }) => xid)).toEqual(['2', '3']);
});

it('ends a wait when the follower hangs up, when the changes were removed from the log, and when the tail stops', async () => {
  const gone = Promise.withResolvers<void>();
  tail.wait(at(0), gone.resolve);
  tail.endWait(gone.resolve);
  await gone.promise;
  const waits = waitBehind(at(0));
  log.expired = true;
  tail.wake();
  await waits;
  expect(tail.isStopped).toBe(true);
  await waitBehind(at(0));
});

it('compares positions as numbers, by the transaction first', () => {
  expect(compare({ xid: '9', seq: 5n }, { xid: '10', seq: 1n })).toBe(-1);
  expect(compare({ xid: '10', seq: 2n }, { xid: '10', seq: 1n })).toBe(1);
  expect(compare(at(3), at(3))).toBe(0);
});
