/** Exports the Prometheus metrics to OpenTelemetry under the same names. */
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { getNumberFromEnv, millisToHrTime } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

interface PrometheusMetric {
  name: string;
  help: string;
  type: unknown;
  values: { value: number; labels: Partial<Record<string, string | number>>; metricName?: string }[];
}

export type ReadMetrics = () => Promise<PrometheusMetric[]>;

export class MetricsExport {
  private readonly sources = new Set<ReadMetrics>();
  private readonly provider: MeterProvider;
  private readonly startTime = millisToHrTime(Date.now());

  constructor(resource: Resource) {
    const exportIntervalMillis = getNumberFromEnv('OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000;
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(),
      exportIntervalMillis,
      exportTimeoutMillis: Math.min(
        exportIntervalMillis,
        getNumberFromEnv('OTEL_METRIC_EXPORT_TIMEOUT') ?? 30_000,
      ),
      metricProducers: [
        {
          collect: async () => {
            const scope = { name: 'measurement-exchange' };
            const scopeMetrics = [{ scope, metrics: await this.collect() }];
            return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
          },
        },
      ],
    });
    this.provider = new MeterProvider({ resource, readers: [reader] });
  }

  add(read: ReadMetrics): () => void {
    this.sources.add(read);
    return () => this.sources.delete(read);
  }

  stop(): Promise<void> {
    return this.provider.shutdown();
  }

  private async collect(): Promise<MetricData[]> {
    const read = await Promise.all([...this.sources].map((source) => source()));
    const endTime = millisToHrTime(Date.now());
    return read.flat().map((metric) => metricData(metric, this.startTime, endTime));
  }
}

export function metricData(metric: PrometheusMetric, startTime: HrTime, endTime: HrTime): MetricData {
  const { name, help, type, values } = metric;
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const point = <T>(labels: object, value: T) => ({
    startTime,
    endTime,
    attributes: { ...labels } as Attributes,
    value,
  });
  if (type === 'histogram') {
    const dataPoints = histograms(values).map(({ labels, ...value }) => point(labels, value));
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = values.map(({ labels, value }) => point(labels, value));
  if (type === 'counter') return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

interface Buckets {
  labels: object;
  boundaries: number[];
  cumulative: number[];
  sum: number;
  count: number;
}

/**
 * Combines Prometheus values into histograms. Prometheus has one value per bucket, one for the sum, and one for the
 * count. All values of one histogram have the same labels, except for the label `le`, which is the upper boundary of a
 * bucket.
 */
function histograms(values: PrometheusMetric['values']) {
  const all = new Map<string, Buckets>();
  for (const { labels: given, metricName = '', value } of values) {
    const { le, ...labels } = given;
    const key = JSON.stringify(Object.entries(labels).sort());
    const found = all.get(key) ?? { labels, boundaries: [], cumulative: [], sum: 0, count: 0 };
    all.set(key, found);
    if (metricName.endsWith('_sum')) found.sum = value;
    else if (metricName.endsWith('_count')) found.count = value;
    else if (le !== '+Inf') {
      found.boundaries.push(Number(le));
      found.cumulative.push(value);
    }
  }
  return [...all.values()].map(({ labels, boundaries, cumulative, sum, count }) => {
    const counts = [...cumulative, count].map((upTo, i) => upTo - (i === 0 ? 0 : cumulative[i - 1]!));
    return { labels, buckets: { boundaries, counts }, sum, count };
  });
}
