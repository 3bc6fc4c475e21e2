/** The tracing interface, which does not depend on OpenTelemetry. */
import type { ReadMetrics } from './metrics.ts';

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'client';
  attributes?: SpanAttributes;
  /** The caller's traceparent header. If it is missing or malformed, the span belongs to the current span's trace. */
  traceparent?: string | undefined;
}
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A span that has not ended. The function that opened the span must end it. */
export interface OpenSpan {
  run<T>(work: () => T): T;
  /** Ends the span. Only the type of `failure` is recorded, because its message may contain a caller's data. */
  end(outcome?: { name?: string | undefined; attributes?: SpanAttributes; failure?: unknown }): void;
}

export interface Telemetry {
  open(options: SpanOptions): OpenSpan;
  /**
   * Opens a span inside the current span. Returns undefined if no span is open, so that frequent actions such as
   * polling do not start a trace.
   */
  openInside(options: SpanOptions): OpenSpan | undefined;
  span<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Runs `work` outside the current span. Use it for work that serves parties other than the caller. */
  outside<T>(work: () => T): T;
  traceparent(): string | undefined;
  exportMetrics(read: ReadMetrics): () => void;
  stop(): Promise<void>;
}
