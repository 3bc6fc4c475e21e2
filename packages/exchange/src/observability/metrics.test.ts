import { expect, it } from 'vitest';
import { Metrics } from './metrics.ts';

/** Returns the lines of all metrics whose names start with `name`, without the lines of histogram buckets. */
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

it('counts transactions by name and outcome, adds up their seconds, and counts retries and findings', async () => {
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

it('counts delivery attempts by outcome, and records the lag of successful deliveries', async () => {
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
  // The largest bucket ends at 259,200 s (three days), the time for which deliveries to a dead endpoint are retried.
  expect(await metrics.text()).toContain('mex_webhook_lag_seconds_bucket{le="259200"} 2\n');
});
