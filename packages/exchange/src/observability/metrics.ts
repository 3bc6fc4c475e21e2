/** Prometheus metrics: docs/operating.md says what each one means. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { defer, flush } from './deferred.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Up to the days for which a dead endpoint is tried. */
const LAG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3_600, 21_600, 86_400, 259_200];

/** The numbers of a connection pool. */
export interface PoolNumbers {
  idleCount: number;
  totalCount: number;
  waitingCount: number;
}

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = this.counter('mex_requests_total', 'Requests by operation and code', [
    'operation',
    'code',
  ]);
  private readonly latency = this.histogram('mex_request_seconds', 'Time to answer by operation', [
    'operation',
  ]);
  private readonly transactions = this.counter('mex_transactions_total', 'Transactions by name and outcome', [
    'name',
    'outcome',
  ]);
  private readonly transactionTime = this.histogram(
    'mex_transaction_seconds',
    'Time of transactions by name',
    ['name'],
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
  private readonly deliveryLag = new Histogram({
    name: 'mex_webhook_lag_seconds',
    help: 'From a change to its delivery to a webhook',
    buckets: LAG_SECONDS,
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

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

  watchPool(pool: PoolNumbers): void {
    const gauge = new Gauge({
      name: 'mex_pool_connections',
      help: 'Database connections by state; waiting counts callers without one',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        gauge.set({ state: 'idle' }, pool.idleCount);
        gauge.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
        gauge.set({ state: 'waiting' }, pool.waitingCount);
      },
    });
  }

  /** Numbers that cost a query: read when they are asked for, at most once in `everyMs`. */
  watch(
    gauge: { name: string; help: string; labelNames?: string[] },
    everyMs: number,
    read: () => Promise<{ labels?: Record<string, string>; value: number }[]>,
  ): void {
    let readAt = Number.NEGATIVE_INFINITY;
    const watched: Gauge = new Gauge({
      ...gauge,
      registers: [this.registry],
      collect: async () => {
        if (performance.now() - readAt < everyMs) return;
        readAt = performance.now();
        // A database out of reach must not take the other metrics with it: the last numbers stay.
        const numbers = await read().catch(() => []);
        for (const { labels = {}, value } of numbers) watched.set(labels, value);
      },
    });
  }

  text(): Promise<string> {
    flush();
    return this.registry.metrics();
  }

  /** The same, for OpenTelemetry. */
  values(): ReturnType<Registry['getMetricsAsJSON']> {
    flush();
    return this.registry.getMetricsAsJSON();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<L extends string>(name: string, help: string, labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.registry] });
  }
}
