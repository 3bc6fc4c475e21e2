/**
 * Tests that a caller that sends more requests than the exchange can serve does not slow down a caller that sends one
 * request. Also tests that pipelined requests are answered in order, and that a caller that hangs up can send large
 * bodies again.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DevParty, useExchange } from '@measurement-exchange/testkit/exchange';
import { bytesOf } from '@measurement-exchange/testkit/rawHttp';
import { expect, it } from 'vitest';

const exchange = useExchange();

const page = ({ name }: DevParty) => `/v2alpha/${name}/measurements?pageSize=50`;

it('a single request overtakes many of the 300 earlier requests of another caller', async () => {
  const [loud, polite] = exchange.dev.measurementConsumers as [DevParty, DevParty];
  let answered = 0;
  const asked = Array.from({ length: 300 }, async () => {
    const { status } = await exchange.call(loud.token, 'GET', page(loud));
    answered++;
    return status;
  });
  await Promise.race(asked);
  const { status } = await exchange.call(polite.token, 'GET', page(polite));
  const before = answered;
  expect(status).toBe(200);
  expect(before).toBeLessThan(200);
  expect(await waiting()).toBeGreaterThan(0);
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  expect(await waiting()).toBe(0);
});

/** Returns the number of requests that have arrived, but that the exchange has not started to process. */
async function waiting(): Promise<number> {
  const metrics = await (await fetch(`${exchange.url}/metrics`)).text();
  return Number(/^mex_requests\{state="waiting"\} (\d+)$/m.exec(metrics)![1]);
}

it('pipelined requests are processed one at a time and answered in order', async () => {
  const [acme] = exchange.dev.measurementConsumers as [DevParty];
  const { hostname, port } = new URL(exchange.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const paths = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? '/v2alpha/whoami' : page(acme)));
  socket.write(Buffer.concat(paths.map((path) => bytesOf('GET', path, { token: acme.token }))));
  let text = '';
  let most = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1');
    most = Math.max(most, await waiting());
    if (text.split('HTTP/1.1 200 OK').length > paths.length) break;
  }
  expect(most).toBe(0);
  const replies = text.split('HTTP/1.1 200 OK').slice(1);
  expect(replies.map((reply) => reply.includes('"principal"'))).toEqual(paths.map((_, i) => i % 2 === 0));
});

it('a caller that disconnects before the responses can send large bodies again', async () => {
  const [acme] = exchange.dev.measurementConsumers as [DevParty];
  const path = `/v2alpha/${acme.name}/measurements`;
  const body = { measurementReferenceId: 'y'.repeat(3_000_000) };
  const { hostname, port } = new URL(exchange.url);
  const headers = ['Content-Type: application/json'];
  const request = bytesOf('POST', path, { token: acme.token, headers, body: JSON.stringify(body) });
  const hangUp = async (ms: number) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    await new Promise<void>((written) => socket.write(request, () => written()));
    await sleep(ms);
    socket.resetAndDestroy();
  };
  // Together, these bodies are several times as large as the caller's memory limit. The connections break at different
  // times after the last write.
  for (let ms = 0; ms < 60; ms++) await Promise.all([hangUp(ms % 12), hangUp((ms + 3) % 12)]);
  expect((await exchange.call(acme.token, 'POST', path, body)).status).toBe(400);
});
