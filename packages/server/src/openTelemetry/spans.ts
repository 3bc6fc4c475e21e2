/** The tracing interface, which does not depend on OpenTelemetry. */
import type { ReadMetrics } from './metrics.ts';

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'client';
  attributes?: SpanAttributes;
  /**
   * The caller's traceparent header. The span continues that trace, or the current span's trace if the header is missing or
   * malformed.
   */
  traceparent?: string | undefined;
}
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A span that has not ended. The function that opened the span must end it. */
export interface OpenSpan {
  /** Runs `work`. All actions that `work` performs or starts belong to the span. */
  run<T>(work: () => T): T;
  /** Ends the span. Only the type of `failure` is recorded, because its message may contain a caller's data. */
  end(outcome?: { name?: string | undefined; attributes?: SpanAttributes; failure?: unknown }): void;
}

export interface Telemetry {
  open(options: SpanOptions): OpenSpan;
  /**
   * Opens a span inside the current span. Returns undefined if no span is open, so that frequent actions such as polling do
   * not start a trace.
   */
  openInside(options: SpanOptions): OpenSpan | undefined;
  /** Runs `work` in a span that ends when the work is done. */
  span<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Runs `work` outside the current span, for work that serves parties other than the caller. */
  outside<T>(work: () => T): T;
  /** Returns the header that continues the current span's trace, or undefined if the span is not sampled. */
  traceparent(): string | undefined;
  /** Exports the Prometheus metrics to OpenTelemetry until the returned function is called. */
  exportMetrics(read: ReadMetrics): () => void;
  /** Exports the remaining spans and metrics, and turns telemetry off. */
  stop(): Promise<void>;
}
