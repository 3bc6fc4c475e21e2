import { expect, it } from 'vitest';
import { isTelemetryOn } from './telemetry.ts';

const ENDPOINT = 'http://127.0.0.1:4318';

it.each<[isOn: boolean, env: NodeJS.ProcessEnv]>([
  [false, {}],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT }],
  [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ENDPOINT }],
  [true, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: ENDPOINT }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'false' }],
])('isTelemetryOn() returns %s with %j', (isOn, env) => {
  expect(isTelemetryOn(env)).toBe(isOn);
});
