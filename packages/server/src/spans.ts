/** What can be traced, and how. */
import type { ReadMetrics } from './openTelemetry/metrics.ts';

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'client';
  attributes?: SpanAttributes;
  /** Continues the trace of this header; otherwise that of the span around it. What is malformed is ignored. */
  traceparent?: string | undefined;
}
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A span that its opener ends. */
export interface OpenSpan {
  /** What `work` does, and what it starts, belongs to the span. */
  run<T>(work: () => T): T;
  /** `failure` is what went wrong. Only its kind is recorded: messages may quote what somebody sent. */
  end(outcome?: { name?: string | undefined; attributes?: SpanAttributes; failure?: unknown }): void;
}

export interface Telemetry {
  open(options: SpanOptions): OpenSpan;
  /** Undefined outside of any span: what happens all the time, such as looking for work, makes no trace. */
  openInside(options: SpanOptions): OpenSpan | undefined;
  /** A span that ends with the work. */
  span<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** What `work` does, and what it starts, belongs to no span: it is for others than who made it due. */
  outside<T>(work: () => T): T;
  /** The header that continues the trace of the current span; undefined where that is not sampled. */
  traceparent(): string | undefined;
  /** Exports what Prometheus reads as well; the function ends it. */
  exportMetrics(read: ReadMetrics): () => void;
  /** Exports what is left. */
  stop(): Promise<void>;
}
