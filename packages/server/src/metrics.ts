/** A program's Prometheus metrics. */
import type pg from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export class MetricsRegistry {
  protected readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  watchPool(name: string, pool: Pick<pg.Pool, 'idleCount' | 'totalCount' | 'waitingCount'>): void {
    const help = 'Database connections by state; waiting counts callers without one';
    this.watch({ name, help, labelNames: ['state'] }, 0, async () => [
      { labels: { state: 'idle' }, value: pool.idleCount },
      { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
      { labels: { state: 'waiting' }, value: pool.waitingCount },
    ]);
  }

  /** Adds a gauge. Its values are read when Prometheus scrapes the metrics, but at most once per `everyMs`. */
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
        // If the database is unreachable, the gauge keeps its last values and the page still serves the other metrics.
        const numbers = await read().catch(() => undefined);
        if (numbers === undefined) return;
        watched.reset();
        for (const { labels = {}, value } of numbers) watched.set(labels, value);
      },
    });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  values(): ReturnType<Registry['getMetricsAsJSON']> {
    return this.registry.getMetricsAsJSON();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  protected counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  protected histogram<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    buckets: number[],
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
