/**
 * Tests `mex webhooks`: it forwards changes to a receiver on this machine in the form of deliveries, and shows and
 * resends the deliveries of a webhook.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { castOf, createMeasurement, requisitionOf } from '@measurement-exchange/testkit/steps';
import { useWorld } from '@measurement-exchange/testkit/world';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { useEnvironment } from './environment.ts';
import { lines, run } from './mexInProcess.ts';

const w = useWorld();
useEnvironment(() => w.exchange);

let receiver: Server;
let url: string;
let status = 204;
const received: { headers: Record<string, string>; body: string }[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    received.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
});
afterAll(() => receiver.close());

const listen = (...more: string[]) =>
  run('webhooks', 'listen', '--as', 'streamly', '--kind', 'REQUISITION', '--oldest', '--limit', '1', ...more);

it('mex webhooks listen forwards changes to a local URL, signed like deliveries', async () => {
  const { acme, streamly } = castOf(w.exchange);
  const measurement = await createMeasurement(w.exchange, acme, [streamly]);
  const { name } = await requisitionOf(w.exchange, streamly, measurement);
  received.length = 0;
  const { out, err, error } = await listen('--forward-to', url);
  expect(error).toBeUndefined();
  expect(out).toMatch(/requisition\.changed .*→ {2}204\n$/);
  const secret = /^The secret that signs: (whsec_\S+)$/m.exec(err)![1]!;
  const [{ body, headers }] = received as [(typeof received)[0]];
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({
    type: 'requisition.changed',
    data: { name, kind: 'REQUISITION', state: 'UNFULFILLED', version: 1 },
  });
  expect(headers['content-type']).toBe('application/json');

  // Run the command again with the same secret, and let the receiver reject the delivery.
  status = 500;
  const again = await listen('--forward-to', url, '--secret', secret, '--json');
  status = 204;
  expect(lines(again.out)).toMatchObject([
    { change: { name }, status: 500, webhookId: headers['webhook-id'] },
  ]);
  new Webhook(secret).verify(received[1]!.body, received[1]!.headers);
  const away = createServer();
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
  const { port } = away.address() as AddressInfo;
  await new Promise((resolve) => away.close(resolve));
  const lost = await listen('--forward-to', `http://127.0.0.1:${port}/`);
  expect(lost.out).toMatch(/not sent \(ECONNREFUSED\): does your receiver run\?/);
  // The command created no webhook at the exchange.
  expect((await run('webhooks', 'list', '--as', 'streamly')).out).toContain('has no webhook');
});

it('mex webhooks shows the type and the body of deliveries, and sends one of them again', async () => {
  const webhooks = (...words: string[]) => run('webhooks', ...words, '--as', 'globex');
  const created = JSON.parse((await webhooks('create', url, '--json')).out);
  received.length = 0;
  await webhooks('test', created.name);
  const deliveries = async () => lines((await webhooks('deliveries', created.name, '--json')).out);
  await vi.waitUntil(async () => (await deliveries())[0].state === 'DELIVERED', 60_000);
  const [{ webhookId, type, body }] = await deliveries();
  expect([type, body]).toEqual(['webhook.test', received[0]!.body]);
  const { out } = await webhooks('deliveries', created.name, '--body');
  expect(out).toMatch(/^ID [\s\S]* BODY\n/);
  expect(out).toContain(`${webhookId}  webhook.test  DELIVERED`);
  expect(out).toContain(body);
  const sent = await webhooks('resend', created.name, webhookId);
  expect(sent.out).toMatch(
    /is sent again in a moment\. See the outcome: MEX_DATA_DIR=\S+ mex webhooks deliveries/,
  );
  await vi.waitUntil(() => received.length === 2, 60_000);
  expect(received[1]!.headers['webhook-id']).toBe(webhookId);
  const { error } = await webhooks('resend', created.name, 'msg_x');
  expect(error?.message).toMatch(/webhookId: is not among the deliveries of this webhook that are kept/);
});
