/**
 * Sets up OpenTelemetry from the standard environment variables. This file is loaded only if those variables are set.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { getNumberFromEnv, isTracingSuppressed, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  processDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { MetricsExport } from './metrics.ts';
import { samplerOf } from './sampler.ts';
import type { OpenSpan, SpanAttributes, SpanOptions, Telemetry } from './spans.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
/**
 * Node announces each outgoing request on one of these channels. The second string of each pair is the method of the
 * request object that adds a header.
 */
const REQUESTS = [
  ['undici:request:create', 'addHeader'],
  ['http.client.request.created', 'setHeader'],
] as const;

export function openTelemetry(
  service: string,
  onWarning: (message: string) => void,
  onStop: () => void,
): Telemetry {
  diag.setLogger(
    { error: onWarning, warn: onWarning, info() {}, debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  requireProtocol();
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service }))
    .merge(detectResources({ detectors: [hostDetector, processDetector, envDetector] }));
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(process.env),
    spanProcessors: isOn('TRACES') ? [new BatchSpanProcessor(batchOptions())] : [],
  });
  const tracer = provider.getTracer('measurement-exchange');
  const metricsExport = isOn('METRICS') ? new MetricsExport(resource) : undefined;

  function open(options: SpanOptions, parent: Context): OpenSpan {
    const { name, kind, attributes = {} } = options;
    const span = tracer.startSpan(name, { kind: kind ? KINDS[kind] : SpanKind.INTERNAL, attributes }, parent);
    const inside = trace.setSpan(parent, span);
    return {
      run: (work) => context.with(inside, work),
      end: ({ name, attributes, failure } = {}) => {
        if (name !== undefined) span.updateName(name);
        if (attributes !== undefined) span.setAttributes(defined(attributes));
        if (failure !== undefined) fail(span, failure);
        span.end();
      },
    };
  }

  /**
   * Subscriptions that add a traceparent header to each request sent with node:http or fetch, so that the request
   * belongs to the current span. Each function in the list ends one subscription.
   */
  const subscriptions = REQUESTS.map(([channel, method]) => {
    const addHeader = (message: unknown) => {
      const header = traceparent();
      const { request } = message as { request: Record<string, (name: string, value: string) => void> };
      if (header !== undefined) request[method]!('traceparent', header);
    };
    subscribe(channel, addHeader);
    return () => unsubscribe(channel, addHeader);
  });

  const self: Telemetry = {
    open: (options) => open(options, parentOf(options)),
    openInside: (options) => {
      const around = context.active();
      return trace.getSpan(around) === undefined ? undefined : open(options, around);
    },
    async span(options, work) {
      const span = self.open(options);
      try {
        const result = await span.run(work);
        span.end();
        return result;
      } catch (failure) {
        span.end({ failure });
        throw failure;
      }
    },
    outside: (work) => context.with(ROOT_CONTEXT, work),
    traceparent,
    exportMetrics: (read) => metricsExport?.add(read) ?? (() => {}),
    async stop() {
      for (const end of subscriptions) end();
      onStop();
      // Ignore errors: a collector that is down must not keep the process from ending.
      await Promise.allSettled([provider.shutdown(), metricsExport?.stop()]);
      context.disable();
      diag.disable();
    },
  };
  return self;
}

/**
 * Returns the context of the caller's span, or the active context if the caller sent no valid traceparent. Ignores the
 * caller's tracestate header, because the header would be stored and forwarded unchecked.
 */
function parentOf({ traceparent }: SpanOptions): Context {
  const remote = traceparent === undefined ? null : parseTraceParent(traceparent);
  if (remote === null || !isSpanContextValid(remote)) return context.active();
  return trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
}

function traceparent(): string | undefined {
  // The exporter's own requests do not belong to the active trace.
  if (isTracingSuppressed(context.active())) return undefined;
  const current = trace.getSpanContext(context.active());
  if (current === undefined || !isSpanContextValid(current)) return undefined;
  if ((current.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
  return `00-${current.traceId}-${current.spanId}-01`;
}

/**
 * Records a failure. As OpenTelemetry recommends, does not mark the span as failed if the caller caused the failure.
 */
function fail(span: Span, failure: unknown): void {
  const { reason, code, name, httpStatus } = failure as Record<string, unknown>;
  span.setAttribute('error.type', String(reason ?? code ?? name ?? 'error'));
  const isCallers = typeof httpStatus === 'number' && httpStatus < 500;
  if (!isCallers) span.setStatus({ code: SpanStatusCode.ERROR });
}

function defined(attributes: SpanAttributes): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function isOn(signal: 'TRACES' | 'METRICS'): boolean {
  const { env } = process;
  const endpoint = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return Boolean(endpoint) && env[`OTEL_${signal}_EXPORTER`] !== 'none';
}

function requireProtocol(): void {
  for (const signal of ['', 'TRACES_', 'METRICS_']) {
    const variable = `OTEL_EXPORTER_OTLP_${signal}PROTOCOL`;
    const protocol = process.env[variable] || 'http/protobuf';
    if (protocol !== 'http/protobuf') {
      throw new Error(
        `${variable} is ${protocol}, and must be http/protobuf: the usual port of that is 4318.`,
      );
    }
  }
}

function batchOptions() {
  const options = {
    scheduledDelayMillis: getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: getNumberFromEnv('OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: getNumberFromEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { exporter: new OTLPTraceExporter(), ...(Object.fromEntries(given) as Record<string, number>) };
}
