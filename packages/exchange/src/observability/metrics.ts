/** The exchange's Prometheus metrics. docs/operating.md explains each metric. */
import { MetricsRegistry } from '@measurement-exchange/server';
import { defer, flush } from './deferred.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Buckets for the time from a change to its delivery. The last buckets cover days of retries to an endpoint that does
 * not respond.
 */
const LAG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3_600, 21_600, 86_400, 259_200];

export class Metrics extends MetricsRegistry {
  private readonly requests = this.counter('mex_requests_total', 'Requests by operation and code', [
    'operation',
    'code',
  ]);
  private readonly latency = this.histogram(
    'mex_request_seconds',
    'Time to answer by operation',
    ['operation'],
    SECONDS,
  );
  private readonly transactions = this.counter('mex_transactions_total', 'Transactions by name and outcome', [
    'name',
    'outcome',
  ]);
  private readonly transactionTime = this.histogram(
    'mex_transaction_seconds',
    'Time of transactions by name',
    ['name'],
    SECONDS,
  );
  private readonly retries = this.counter('mex_transaction_retries_total', 'Retried transactions by name', [
    'name',
  ]);
  private readonly findings = this.counter('mex_findings_total', 'Findings of the checks by code', ['code']);

  private readonly deliveries = this.counter(
    'mex_webhook_deliveries_total',
    'Attempts to deliver to webhooks by outcome',
    ['outcome'],
  );
  private readonly deliveryLag = this.histogram(
    'mex_webhook_lag_seconds',
    'From a change to its delivery to a webhook',
    [],
    LAG_SECONDS,
  );

  request(operation: string, code: string, seconds: number): void {
    this.requests.inc({ operation, code });
    this.latency.observe({ operation }, seconds);
  }

  finding(code: string): void {
    this.findings.inc({ code });
  }

  transaction(name: string, outcome: string, seconds: number): void {
    defer(() => {
      this.transactions.inc({ name, outcome });
      this.transactionTime.observe({ name }, seconds);
    });
  }

  retry(name: string): void {
    this.retries.inc({ name });
  }

  delivery(outcome: string, seconds: number): void {
    this.deliveries.inc({ outcome });
    if (outcome === 'delivered') this.deliveryLag.observe(seconds);
  }

  override text(): Promise<string> {
    flush();
    return super.text();
  }

  override values(): ReturnType<MetricsRegistry['values']> {
    flush();
    return super.values();
  }
}
