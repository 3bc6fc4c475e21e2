/** Prometheus metrics of one process of a duchy. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { countPending, type Database } from '../database/index.ts';

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 600];
/** Numbers that cost a query are read this often at most. */
const COUNT_EVERY_MS = 5_000;

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'mex_duchy_requests_total',
    help: 'Requests by operation and code',
    labelNames: ['operation', 'code'],
    registers: [this.registry],
  });
  private readonly latency = new Histogram({
    name: 'mex_duchy_request_seconds',
    help: 'Time to answer by operation; uploads last as long as their senders take',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  request(operation: string, code: string, seconds: number): void {
    this.requests.inc({ operation, code });
    this.latency.observe({ operation }, seconds);
  }

  watchDatabase(db: Database): void {
    const connections = new Gauge({
      name: 'mex_duchy_pool_connections',
      help: 'Database connections by state; waiting counts callers without one',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        const { idleCount, totalCount, waitingCount } = db.pool;
        connections.set({ state: 'idle' }, idleCount);
        connections.set({ state: 'busy' }, totalCount - idleCount);
        connections.set({ state: 'waiting' }, waitingCount);
      },
    });
    let readAt = Number.NEGATIVE_INFINITY;
    const computations: Gauge<'role' | 'stage'> = new Gauge({
      name: 'mex_duchy_computations',
      help: 'Pending computations by role and stage',
      labelNames: ['role', 'stage'],
      registers: [this.registry],
      collect: async () => {
        if (performance.now() - readAt < COUNT_EVERY_MS) return;
        readAt = performance.now();
        // A database out of reach must not take the other metrics with it: the last numbers stay.
        const counts = await countPending(db).catch(() => undefined);
        if (counts === undefined) return;
        computations.reset();
        for (const { role, stage, count } of counts) computations.set({ role, stage }, count);
      },
    });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
