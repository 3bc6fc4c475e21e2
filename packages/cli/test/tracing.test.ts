import { useCollector } from '@measurement-exchange/testkit/collector';
import { spawnMex } from '@measurement-exchange/testkit/process';
import { expect, it } from 'vitest';

const collector = useCollector();

it('mex traces a command as one span, except a command such as watch that runs until it is stopped', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRICS_EXPORTER: 'none' };
  const nobody = ['--url', 'http://127.0.0.1:9', '--token', 'none'];
  await Promise.all(['whoami', 'watch'].map((command) => spawnMex([command, ...nobody], { env }).ended));
  expect(collector.spans.map(({ name }) => name)).toEqual(['mex whoami']);
});
