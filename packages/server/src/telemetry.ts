/**
 * The telemetry of this process. `telemetry` is undefined before `startTelemetry` resolves and after the telemetry has
 * stopped. Only `startTelemetry` loads OpenTelemetry. Call `startTelemetry` only if `isTelemetryOn` returns true.
 */
import type { OpenSpan, SpanOptions, Telemetry } from './openTelemetry/spans.ts';

export type { OpenSpan, SpanAttributes, SpanOptions, Telemetry } from './openTelemetry/spans.ts';

export let telemetry: Telemetry | undefined;

export function isTelemetryOn(env: NodeJS.ProcessEnv = process.env): boolean {
  const endpoints = ['', 'TRACES_', 'METRICS_'].map((signal) => env[`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`]);
  return endpoints.some(Boolean) && env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true';
}

/** Starts telemetry. Call this function before creating the servers that telemetry should trace. */
export async function startTelemetry(
  service: string,
  onWarning: (message: string) => void,
): Promise<Telemetry> {
  const { openTelemetry } = await import('./openTelemetry/index.ts');
  telemetry = openTelemetry(service, onWarning, () => {
    telemetry = undefined;
  });
  return telemetry;
}

export function inSpan<T>(options: SpanOptions, work: () => Promise<T>): Promise<T> {
  return telemetry === undefined ? work() : telemetry.span(options, work);
}

export function outsideSpans<T>(work: () => T): T {
  return telemetry === undefined ? work() : telemetry.outside(work);
}

/**
 * Opens a span for SQL statements. The span does not record the statements' values, which may contain a caller's
 * data.
 */
export function openStatements(names: string[]): OpenSpan | undefined {
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.batch.size': names.length };
  return telemetry?.openInside({ name: names.join(', '), kind: 'client', attributes });
}
