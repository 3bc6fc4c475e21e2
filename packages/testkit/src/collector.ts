/** An OpenTelemetry collector on loopback, to which this process exports its spans and metrics. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { startTelemetry } from '@measurement-exchange/server/telemetry';
import { afterAll, beforeAll, vi } from 'vitest';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the root span of a trace. */
  parentId: string;
  name: string;
  /** The attribute values as text. Integers are converted to text, too. */
  attributes: Record<string, string>;
  /** The ID of the process that created the span. */
  pid: number;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  metricNames: Set<string>;
}

/** Collects telemetry while the caller's test file runs. Call this function before the traced code starts. */
export function useCollector(): Collector {
  const collector: Collector = { url: '', spans: [], metricNames: new Set() };
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    if (request.url === '/v1/traces') collector.spans.push(...spansIn(bytes));
    if (request.url === '/v1/metrics') for (const name of metricsIn(bytes)) collector.metricNames.add(name);
    response.end();
  });
  let stop = async () => {};
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50');
    vi.stubEnv('OTEL_METRIC_EXPORT_INTERVAL', '1000');
    ({ stop } = await startTelemetry('tests', console.error));
  });
  afterAll(async () => {
    await stop();
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  return collector;
}

type Fields = Map<number, Uint8Array[]>;

/** Reads the length-delimited fields of a message: nested messages, texts and bytes. */
function fieldsOf(message: Uint8Array): Fields {
  const reader = new BinaryReader(message);
  const fields: Fields = new Map();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type !== WireType.LengthDelimited) reader.skip(type);
    else fields.set(field, [...(fields.get(field) ?? []), reader.bytes()]);
  }
  return fields;
}
const all = (fields: Fields, field: number) => (fields.get(field) ?? []).map(fieldsOf);
const textOf = (fields: Fields, field: number) => new TextDecoder().decode(fields.get(field)?.[0]);
const hexOf = (fields: Fields, field: number) => Buffer.from(fields.get(field)?.[0] ?? []).toString('hex');

/** Returns the spans in the nested field `resource_spans.scope_spans.spans` of an ExportTraceServiceRequest. */
function spansIn(request: Uint8Array): CollectedSpan[] {
  return all(fieldsOf(request), 1).flatMap((resource) => {
    const pid = pidIn(all(resource, 1)[0]!);
    return all(resource, 2)
      .flatMap((scope) => all(scope, 2))
      .map((span) => ({
        traceId: hexOf(span, 1),
        spanId: hexOf(span, 2),
        parentId: hexOf(span, 4),
        name: textOf(span, 5),
        attributes: Object.fromEntries(
          all(span, 9).map((attribute) => [textOf(attribute, 1), valueIn(attribute.get(2)![0]!)]),
        ),
        pid,
      }));
  });
}

/** Reads the attribute `process.pid` of a resource. */
function pidIn(resource: Fields): number {
  const attribute = all(resource, 1).find((fields) => textOf(fields, 1) === 'process.pid');
  return Number(valueIn(attribute!.get(2)![0]!));
}

/** Reads an AnyValue that is a string or an integer, and returns it as text. */
function valueIn(any: Uint8Array): string {
  const reader = new BinaryReader(any);
  const [field] = reader.tag();
  return field === 3 ? String(reader.int64()) : reader.string();
}

/**
 * Returns the names of the metrics in the nested field `resource_metrics.scope_metrics.metrics` of an
 * ExportMetricsServiceRequest.
 */
function metricsIn(request: Uint8Array): string[] {
  return all(fieldsOf(request), 1)
    .flatMap((resource) => all(resource, 2))
    .flatMap((scope) => all(scope, 2))
    .map((metric) => textOf(metric, 1));
}
