import { ExchangeError } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import { expect, it, vi } from 'vitest';
import { loadConfig } from '../config/config.ts';
import { ChangeBus } from '../feed/changeBus.ts';
import type { Exchange } from '../operations/context.ts';
import { Jobs } from './index.ts';

it.each([
  ['warn', new ExchangeError('UNAVAILABLE', 'The database is busy.')],
  ['error', new TypeError('A defect.')],
] as const)('logs at level %s that a job failed: %s', async (level, failure) => {
  const fails = () => Promise.reject(failure);
  const exchange = {
    ...{
      db: { query: fails, tx: fails },
      lastSeen: { store: fails },
      replica: {},
      doctor: { runIfDue: fails },
    },
    ...{ clock: () => '2026-01-01T00:00:00.000000Z', allowsHttp: true, bus: new ChangeBus() },
  } as unknown as Exchange;
  const log = { warn: vi.fn(), error: vi.fn() };
  const jobs = new Jobs(exchange, loadConfig({}, { mode: 'development' }), log as unknown as Logger);
  await jobs.stop();
  const told = [
    { job: 'cascadeRevocations', reason: failure.message },
    expect.stringContaining('it runs again'),
  ];
  expect(log[level].mock.calls).toContainEqual(told);
  expect(log[level === 'warn' ? 'error' : 'warn']).not.toHaveBeenCalled();
});
