/**
 * Tests that the jobs pass their settings to the SQL statement or the call that uses them. Also tests when a job runs
 * again.
 */
import type { Logger } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Config, loadConfig } from '../config/config.ts';
import type { Statement } from '../database/db.ts';
import { ChangeBus } from '../feed/changeBus.ts';
import type { Exchange } from '../operations/context.ts';
import { Jobs } from './index.ts';

const NOW = '2026-11-17T12:00:00.000000Z';
let asked: Map<string, unknown[][]>;
let rows: Map<string, unknown[]>;
let jobs: Jobs | undefined;
let bus: ChangeBus;
beforeEach(() => {
  asked = new Map();
  rows = new Map();
  bus = new ChangeBus();
});
afterEach(() => jobs?.stop());

/**
 * Starts the jobs on a fake database, which records the values of each query. The first query with a statement returns
 * the test's `rows` for that statement. Later queries with the same statement return no rows.
 */
function start(settings: Partial<Config>) {
  const query = async ({ name }: Statement<unknown>, values: unknown[]) => {
    asked.set(name, [...(asked.get(name) ?? []), values]);
    const found = rows.get(name) ?? [];
    rows.delete(name);
    return found;
  };
  const tx = (_name: string, work: (tx: { query: typeof query }) => Promise<unknown>) => work({ query });
  const lastSeen = { store: vi.fn(async () => {}) };
  const log = { warn: vi.fn(), error: vi.fn() };
  const doctor = { runIfDue: vi.fn(async () => false) };
  const replica = { id: 'r', host: 'h', version: '1', startTime: NOW };
  const exchange = {
    ...{ db: { query, tx }, clock: () => NOW, lastSeen, bus, doctor, replica },
  } as unknown as Exchange;
  const config = loadConfig({}, { mode: 'development', ...settings });
  jobs = new Jobs(exchange, config, log as unknown as Logger);
  return { doctor, lastSeen, log };
}

it('passes the configured deadlines, retention periods and doctor interval to the jobs', async () => {
  const { doctor, lastSeen, log } = start({
    computations: {
      ...{ parametersWithinHours: 1.5, fulfillWithinHours: 100 },
      ...{ confirmWithinHours: 3, computeWithinHours: 7 },
    },
    changes: { keepDays: 2 },
    doctorEveryHours: 12,
    retention: { cancelPendingAfterDays: 5, removeTerminalAfterDays: 9 },
  });
  await expect.poll(() => asked.has('retention_find_terminal')).toBe(true);
  await expect.poll(() => asked.has('computation_find_overdue_computing')).toBe(true);
  const cutoff = (name: string) => asked.get(name)?.[0]?.[0];
  expect(cutoff('computation_find_overdue_pending_params')).toBe('2026-11-17T10:30:00.000000Z');
  expect(cutoff('computation_find_overdue_pending_fulfillment')).toBe('2026-11-13T08:00:00.000000Z');
  expect(cutoff('computation_find_overdue_pending_confirmation')).toBe('2026-11-17T09:00:00.000000Z');
  expect(cutoff('computation_find_overdue_computing')).toBe('2026-11-17T05:00:00.000000Z');
  expect(cutoff('changes_find_old')).toBe('2026-11-15T12:00:00.000000Z');
  expect(cutoff('retention_find_pending')).toBe('2026-11-12T12:00:00.000000Z');
  expect(cutoff('retention_find_terminal')).toBe('2026-11-08T12:00:00.000000Z');
  expect(lastSeen.store).toHaveBeenCalledTimes(1);
  expect(doctor.runIfDue.mock.calls).toEqual([[12]]);
  expect(asked.get('replica_store')).toEqual([['r', 'h', '1', NOW, NOW, '2026-11-16T12:00:00.000000Z']]);
  expect([log.warn.mock.calls, log.error.mock.calls]).toEqual([[], []]);
});

it('runs no retention query without retention settings', async () => {
  start({});
  await expect.poll(() => asked.has('changes_find_old')).toBe(true);
  expect([...asked.keys()].filter((name) => name.startsWith('retention'))).toEqual([]);
});

it('runs a job again immediately after a full batch, but not after a partial one', async () => {
  rows.set('retention_find_terminal', Array(200).fill({ id: 'm' }));
  rows.set('retention_remove', [{ n: 200 }]);
  start({ retention: { removeTerminalAfterDays: 9 } });
  await expect.poll(() => asked.get('retention_find_terminal')?.length).toBe(2);
  expect(asked.get('changes_find_old')).toHaveLength(1);
});

it('looks for overdue computations of all kinds, and again immediately after a full batch of one kind', async () => {
  rows.set('computation_find_overdue_pending_params', Array(50).fill({ id: 'm' }));
  start({});
  const asks = () =>
    ['pending_params', 'pending_fulfillment', 'pending_confirmation', 'computing'].map(
      (state) => asked.get(`computation_find_overdue_${state}`)?.length,
    );
  // The jobs run again without waiting for the next scheduled run, which is ten seconds later.
  await expect.poll(asks, { timeout: 8_000 }).toEqual([2, 2, 2, 2]);
});

it('runs the webhook job again immediately when the bus reports work or changes', async () => {
  start({});
  await expect.poll(() => asked.get('webhook_parties')?.length).toBe(1);
  bus.emit('work');
  await expect.poll(() => asked.get('webhook_parties')?.length).toBe(2);
  bus.emit('changed', undefined);
  await expect.poll(() => asked.get('webhook_parties')?.length).toBe(3);
});
