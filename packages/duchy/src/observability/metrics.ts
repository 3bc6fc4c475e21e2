/** Prometheus metrics of a duchy process. docs/duchy.md explains each metric. */
import { MetricsRegistry } from '@measurement-exchange/server';
import { Gauge } from 'prom-client';
import { countPending, type Database } from '../database/index.ts';

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 600];
/** The minimum time between two refreshes of a metric that needs a database query. */
const COUNT_EVERY_MS = 5_000;

export type StageOutcome = 'done' | 'retried' | 'waiting' | 'failed' | 'lease_lost' | 'over' | 'stopped';

export class Metrics extends MetricsRegistry {
  private readonly requests = this.counter(
    'mex_duchy_requests_total',
    'Requests by operation, code and reason; accepted ones are OK',
    ['operation', 'code', 'reason'],
  );
  private readonly latency = this.histogram(
    'mex_duchy_request_seconds',
    'Time to answer by operation; uploads last as long as their senders take',
    ['operation'],
    SECONDS,
  );
  private readonly receivedBytes = this.counter(
    'mex_duchy_received_bytes_total',
    'Bytes of uploads (fulfill) and messages (advance) that arrived, accepted or not',
    ['operation'],
  );
  private readonly sentBytes = this.counter(
    'mex_duchy_sent_bytes_total',
    'Bytes of messages that were sent to other duchies, accepted or not',
    ['peer'],
  );
  private readonly stages = this.counter(
    'mex_duchy_stages_total',
    'Attempts at stages by stage and outcome',
    ['stage', 'outcome'],
  );
  private readonly stageTime = this.histogram(
    'mex_duchy_stage_seconds',
    'Time of attempts at stages by stage',
    ['stage'],
    SECONDS,
  );
  private readonly polled = new Gauge({
    name: 'mex_duchy_herald_polled_timestamp_seconds',
    help: 'When the herald last polled the exchange without an error, in Unix time',
    registers: [this.registry],
  });
  private readonly exchangeFailures = this.counter(
    'mex_duchy_exchange_failures_total',
    'Calls of the exchange that failed, after retries, by operation and code',
    ['operation', 'code'],
  );

  request(operation: string, failure: { code: string; reason: string } | undefined, seconds: number): void {
    const { code, reason } = failure ?? { code: 'OK', reason: 'OK' };
    this.requests.inc({ operation, code, reason });
    this.latency.observe({ operation }, seconds);
  }

  received(operation: string, bytes: number): void {
    this.receivedBytes.inc({ operation }, bytes);
  }

  sent(peer: string, bytes: number): void {
    this.sentBytes.inc({ peer }, bytes);
  }

  stage(stage: string, outcome: StageOutcome, seconds: number): void {
    this.stages.inc({ stage, outcome });
    this.stageTime.observe({ stage }, seconds);
  }

  heraldPolled(): void {
    this.polled.setToCurrentTime();
  }

  exchangeFailure(operation: string, code: string): void {
    this.exchangeFailures.inc({ operation, code });
  }

  watchDatabase(db: Database): void {
    this.watchPool('mex_duchy_pool_connections', db.pool);
    const pending = {
      name: 'mex_duchy_computations',
      help: 'Pending computations by role and stage',
      labelNames: ['role', 'stage'],
    };
    this.watch(pending, COUNT_EVERY_MS, async () =>
      (await countPending(db)).map(({ count, ...labels }) => ({ labels, value: count })),
    );
  }
}
