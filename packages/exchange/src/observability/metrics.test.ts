import { expect, it, vi } from 'vitest';
import { Metrics } from './metrics.ts';

/** The lines of our own metrics with a value, without the buckets that are empty or full alike. */
async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
  return lines.filter((line) => !line.includes('_bucket'));
}

it('counts requests by operation and code, and adds up their seconds by operation', async () => {
  const metrics = new Metrics();
  metrics.request('getMeasurement', 'OK', 0.5);
  metrics.request('getMeasurement', 'OK', 0.25);
  metrics.request('getMeasurement', 'NOT_FOUND', 2);
  metrics.request('listChanges', 'OK', 30);
  expect(await linesOf(metrics, 'mex_request')).toEqual([
    'mex_requests_total{operation="getMeasurement",code="OK"} 2',
    'mex_requests_total{operation="getMeasurement",code="NOT_FOUND"} 1',
    'mex_requests_total{operation="listChanges",code="OK"} 1',
    'mex_request_seconds_sum{operation="getMeasurement"} 2.75',
    'mex_request_seconds_count{operation="getMeasurement"} 3',
    'mex_request_seconds_sum{operation="listChanges"} 30',
    'mex_request_seconds_count{operation="listChanges"} 1',
  ]);
  expect(await metrics.text()).toContain(
    'mex_request_seconds_bucket{le="0.25",operation="getMeasurement"} 1\n',
  );
});

it('counts transactions by name and outcome, their seconds and their retries, and findings', async () => {
  const metrics = new Metrics();
  metrics.transaction('createMeasurement', 'committed', 0.5);
  metrics.transaction('createMeasurement', 'failed', 1);
  metrics.retry('createMeasurement');
  metrics.retry('createMeasurement');
  metrics.finding('DUPLICATE');
  expect(await linesOf(metrics, 'mex_transaction')).toEqual([
    'mex_transactions_total{name="createMeasurement",outcome="committed"} 1',
    'mex_transactions_total{name="createMeasurement",outcome="failed"} 1',
    'mex_transaction_seconds_sum{name="createMeasurement"} 1.5',
    'mex_transaction_seconds_count{name="createMeasurement"} 2',
    'mex_transaction_retries_total{name="createMeasurement"} 2',
  ]);
  expect(await linesOf(metrics, 'mex_findings')).toEqual(['mex_findings_total{code="DUPLICATE"} 1']);
});

it('counts attempts to deliver by outcome, and the lag of those that were delivered', async () => {
  const metrics = new Metrics();
  metrics.delivery('delivered', 2);
  metrics.delivery('rejected', 500);
  metrics.delivery('unreachable', 5_000);
  metrics.delivery('delivered', 100_000);
  expect(await linesOf(metrics, 'mex_webhook')).toEqual([
    'mex_webhook_deliveries_total{outcome="delivered"} 2',
    'mex_webhook_deliveries_total{outcome="rejected"} 1',
    'mex_webhook_deliveries_total{outcome="unreachable"} 1',
    'mex_webhook_lag_seconds_sum 100002',
    'mex_webhook_lag_seconds_count 2',
  ]);
  // The days for which a dead endpoint is tried.
  expect(await metrics.text()).toContain('mex_webhook_lag_seconds_bucket{le="259200"} 2\n');
});

it('shows the connections of a pool as they are', async () => {
  const metrics = new Metrics();
  const pool = { totalCount: 7, idleCount: 3, waitingCount: 2 };
  metrics.watchPool(pool);
  const of = (state: string, count: number) => `mex_pool_connections{state="${state}"} ${count}`;
  expect(await linesOf(metrics, 'mex_pool')).toEqual([of('idle', 3), of('busy', 4), of('waiting', 2)]);
  pool.idleCount = 7;
  expect(await linesOf(metrics, 'mex_pool')).toEqual([of('idle', 7), of('busy', 0), of('waiting', 2)]);
});

it('reads a number that costs a query at most so often, and keeps the last one where that fails', async () => {
  const metrics = new Metrics();
  const read = vi.fn(async () => [
    { labels: { kind: 'a' }, value: read.mock.calls.length },
    { labels: { kind: 'b' }, value: 10 * read.mock.calls.length },
  ]);
  metrics.watch({ name: 'mex_watched', help: 'h', labelNames: ['kind'] }, 1_000, read);
  const { now } = performance;
  let ahead = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
  const shown = async () => linesOf(metrics, 'mex_watched');
  const first = ['mex_watched{kind="a"} 1', 'mex_watched{kind="b"} 10'];
  expect(await shown()).toEqual(first);
  expect(await shown()).toEqual(first);
  ahead = 1_000;
  expect(await shown()).toEqual(['mex_watched{kind="a"} 2', 'mex_watched{kind="b"} 20']);
  ahead = 2_000;
  read.mockRejectedValueOnce(new Error('away'));
  expect(await shown()).toEqual(['mex_watched{kind="a"} 2', 'mex_watched{kind="b"} 20']);
  vi.restoreAllMocks();
});
