/** The interface of tracing, without a dependency on OpenTelemetry. */
import type { ReadMetrics } from './metrics.ts';

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'client';
  attributes?: SpanAttributes;
  /** The span continues the trace of this header, or else the trace of the span around it. A malformed header is ignored. */
  traceparent?: string | undefined;
}
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A span that its creator must end. */
export interface OpenSpan {
  /** All that `work` does or starts belongs to the span. */
  run<T>(work: () => T): T;
  /** Only the kind of `failure` is recorded, since its message may contain data of a caller. */
  end(outcome?: { name?: string | undefined; attributes?: SpanAttributes; failure?: unknown }): void;
}

export interface Telemetry {
  open(options: SpanOptions): OpenSpan;
  /** Undefined outside of a span, so that frequent actions such as polling do not start a trace. */
  openInside(options: SpanOptions): OpenSpan | undefined;
  /** Runs `work` in a span that ends with the work. */
  span<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Runs `work` outside of the current span, since it serves other parties than the caller. */
  outside<T>(work: () => T): T;
  /** The header that continues the trace of the current span; undefined if the span is not sampled. */
  traceparent(): string | undefined;
  /** Exports the metrics that Prometheus reads, until the returned function is called. */
  exportMetrics(read: ReadMetrics): () => void;
  /** Exports the remaining spans and metrics. */
  stop(): Promise<void>;
}
