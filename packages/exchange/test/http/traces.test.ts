import { type CollectedSpan, useCollector } from '@measurement-exchange/testkit/collector';
import { measurementRequest, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, ok } from '@measurement-exchange/testkit/steps';
import { expect, it, vi } from 'vitest';
import { addWebhook, removeWebhooks, startReceiver } from '../webhooks/receiver.ts';

const collector = useCollector();
const exchange = useExchange();

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

/** Returns the names of all spans below a parent span. Each name is a line, indented below the name of its parent. */
function tree(spans: CollectedSpan[], parentId: string, indent = ''): string[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .flatMap(({ name, spanId }) => [`${indent}${name}`, ...tree(spans, spanId, `${indent}  `)]);
}

/** Waits for the span of a request, which arrives after its child spans because it ends last. */
function spanOf(reply: Reply): Promise<CollectedSpan> {
  const requestId = reply.headers.get('x-request-id');
  return vi.waitFor(() => {
    const span = collector.spans.find(({ attributes }) => attributes['mex.request_id'] === requestId);
    expect(span).toBeDefined();
    return span!;
  }, 30_000);
}

it('the trace of a caller has spans for the request, its transaction and its statements, and no secrets', async () => {
  const { acme, streamly } = castOf(exchange);
  const created = await exchange.call(
    acme.token,
    'POST',
    `/v2alpha/${acme.name}/measurements`,
    measurementRequest(acme, [streamly]),
    { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=secret' },
  );
  await ok(created);
  expect((await spanOf(created)).traceId).toBe(TRACE);
  const lines = tree(collector.spans, CALLER);
  expect(lines[0]).toBe('createMeasurement');
  expect(lines).toContain('  transaction createMeasurement');
  expect(lines).toContainEqual(expect.stringMatching(/^ {4}measurement_insert.*, commit$/));
  const printed = JSON.stringify(collector.spans);
  expect(printed).not.toContain(acme.token);
  expect(printed).not.toContain('vendor');
});

it('the span of a rejected request has the error reason, but no content of the request', async () => {
  const { acme } = castOf(exchange);
  const rejected = await exchange.call(acme.token, 'POST', `/v2alpha/${acme.name}/measurements`, {
    unknownMember: 'of the caller',
  });
  expect(await spanOf(rejected)).toMatchObject({
    parentId: '',
    name: 'createMeasurement',
    attributes: { 'error.type': 'INVALID_FIELD_VALUE', 'mex.principal': acme.name },
  });
  expect(JSON.stringify(collector.spans)).not.toContain('of the caller');
});

it('a request with a malformed traceparent header starts a new trace', async () => {
  const { acme } = castOf(exchange);
  for (const traceparent of ['00-0-0-00', `00-${'0'.repeat(32)}-${CALLER}-01`, 'x'.repeat(5_000)]) {
    const reply = await exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}`, undefined, { traceparent });
    expect((await spanOf(reply)).parentId).toBe('');
  }
});

it('health checks and background queries are not traced', async () => {
  await fetch(`${exchange.url}/healthz`);
  await fetch(`${exchange.url}/readyz`);
  const { acme } = castOf(exchange);
  const reply = await exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}`);
  await spanOf(reply);
  const begins = collector.spans.filter(({ parentId }) => parentId === '').map(({ name }) => name);
  expect(new Set(begins)).toEqual(new Set(['createMeasurement', 'getParty']));
  // A commit also wakes the change feeds and webhooks of other parties. The traces must not contain the statements that
  // then read the change log and the webhooks.
  const names = collector.spans.map(({ name }) => name);
  expect(names.filter((name) => /^(changes_|webhook_)/.test(name))).toEqual([]);
});

it('webhook deliveries are spans in the traces of the measurements, with their status and error', async () => {
  const { acme, streamly } = castOf(exchange);
  const receiver = await startReceiver();
  const webhook = await addWebhook(exchange, acme, receiver, { filter: { kinds: ['MEASUREMENT'] } });
  const path = `/v2alpha/${acme.name}/measurements`;
  const request = measurementRequest(acme, [streamly]);
  const deliveryIn = (trace: string) =>
    vi.waitFor(() => {
      const span = collector.spans.find((one) => one.name === 'deliver webhook' && one.traceId === trace);
      expect(span).toBeDefined();
      return span!;
    }, 30_000);
  const named = { 'mex.party': acme.name, 'mex.webhook': webhook.name };
  const create = async (trace: string) =>
    ok(exchange.call(acme.token, 'POST', path, request, { traceparent: `00-${trace}-${CALLER}-01` }));

  const [first, second, failed] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [
    string,
    string,
    string,
  ];
  await Promise.all([create(first), create(second)]);
  for (const trace of [first, second]) {
    const { spanId, attributes } = await deliveryIn(trace);
    expect(attributes).toEqual({ ...named, 'http.response.status_code': '204' });
    expect(receiver.received.map(({ traceparent }) => traceparent)).toContain(`00-${trace}-${spanId}-01`);
  }
  receiver.respond = () => 503;
  await create(failed);
  expect((await deliveryIn(failed)).attributes).toEqual({
    ...{ ...named, 'http.response.status_code': '503', 'error.type': '503' },
  });
  await removeWebhooks();
  await receiver.leave();
});

it('the collector receives all metrics of /metrics', async () => {
  const text = await (await fetch(`${exchange.url}/metrics`)).text();
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  await vi.waitFor(() => expect([...collector.metricNames]).toEqual(expect.arrayContaining(names)), 30_000);
});
