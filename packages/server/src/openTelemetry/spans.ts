/** The interface to tracing. */
import type { ReadMetrics } from './metrics.ts';

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'client';
  attributes?: SpanAttributes;
  /** Continues the trace of this header, or else that of the enclosing span. A malformed header is ignored. */
  traceparent?: string | undefined;
}
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A span that its creator must end. */
export interface OpenSpan {
  /** Everything that `work` does or starts belongs to the span. */
  run<T>(work: () => T): T;
  /** Only the kind of `failure` is recorded, because its message may quote data of a caller. */
  end(outcome?: { name?: string | undefined; attributes?: SpanAttributes; failure?: unknown }): void;
}

export interface Telemetry {
  open(options: SpanOptions): OpenSpan;
  /** Undefined outside of any span: frequent actions, such as looking for work, make no trace of their own. */
  openInside(options: SpanOptions): OpenSpan | undefined;
  /** A span that ends with the work. */
  span<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Nothing that `work` does or starts belongs to a span: it serves other parties than the caller. */
  outside<T>(work: () => T): T;
  /** The header that continues the trace of the current span; undefined where it is not sampled. */
  traceparent(): string | undefined;
  /** Exports the metrics that Prometheus reads, until the returned function is called. */
  exportMetrics(read: ReadMetrics): () => void;
  /** Exports the remaining spans and metrics. */
  stop(): Promise<void>;
}
