import { DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { metricData } from './metrics.ts';

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

/** Exports every metric in the registry. */
async function exported() {
  const metrics = await registry.getMetricsAsJSON();
  return metrics.map((metric) => metricData(metric, [1, 0], [2, 0]));
}

it('exports a counter as a monotonic sum, with one data point for each combination of labels', async () => {
  const counter = new Counter({ name: 'c', help: 'counts', labelNames: ['a', 'b'], registers: [registry] });
  counter.inc({ a: 'x', b: 'y' }, 2);
  counter.inc({ a: 'x', b: 'z' }, 3);
  const [data] = await exported();
  expect(data).toMatchObject({ dataPointType: DataPointType.SUM, isMonotonic: true });
  expect(data!.descriptor).toMatchObject({ name: 'c', description: 'counts' });
  expect(data!.dataPoints.map(({ attributes, value }) => [attributes, value])).toEqual([
    [{ a: 'x', b: 'y' }, 2],
    [{ a: 'x', b: 'z' }, 3],
  ]);
  expect(data!.dataPoints[0]).toMatchObject({ startTime: [1, 0], endTime: [2, 0] });
});

it('exports a gauge with its value and labels', async () => {
  new Gauge({ name: 'g', help: 'h', labelNames: ['state'], registers: [registry] }).set(
    { state: 'idle' },
    -7.5,
  );
  const [data] = await exported();
  expect(data!.dataPointType).toBe(DataPointType.GAUGE);
  expect(data!.dataPoints).toMatchObject([{ attributes: { state: 'idle' }, value: -7.5 }]);
});

it('exports a histogram with its bucket counts, sum and count for each combination of labels', async () => {
  const histogram = new Histogram({
    ...{ name: 'h', help: 'h', labelNames: ['name', 'kind'], buckets: [1, 10, 100] },
    registers: [registry],
  });
  for (const value of [0.5, 1, 5, 50, 500, 600]) histogram.observe({ name: 'a', kind: 'k' }, value);
  histogram.observe({ name: 'b', kind: 'k' }, 20);
  const [data] = await exported();
  expect(data!.dataPointType).toBe(DataPointType.HISTOGRAM);
  expect(data!.dataPoints).toMatchObject([
    {
      attributes: { name: 'a', kind: 'k' },
      value: { buckets: { boundaries: [1, 10, 100], counts: [2, 1, 1, 2] }, sum: 1156.5, count: 6 },
    },
    {
      attributes: { name: 'b', kind: 'k' },
      value: { buckets: { boundaries: [1, 10, 100], counts: [0, 0, 1, 0] }, sum: 20, count: 1 },
    },
  ]);
});
