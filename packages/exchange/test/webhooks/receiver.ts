/** A receiver of webhooks for tests, built with the Standard Webhooks library as a webhook's owner would build it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DevParty, TestExchange } from '@measurement-exchange/testkit/exchange';
import { ok } from '@measurement-exchange/testkit/steps';
import { Webhook } from 'standardwebhooks';

export interface Received {
  id: string;
  name: string;
  version: number;
  type: string;
  traceparent: string | undefined;
}

export interface Receiver {
  url: string;
  /** The secrets that the receiver accepts. */
  secrets: string[];
  /** The verified events that got a status below 300, in the order of their responses. */
  received: Received[];
  /** The number of requests that failed verification. */
  forged: number;
  /**
   * Returns the HTTP status of the response to a delivery. If the result is a promise, the response waits for the
   * promise.
   */
  respond: (event: Received) => number | Promise<number>;
  /** The Retry-After header of unsuccessful responses. */
  retryAfter: string | undefined;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const headers = request.headers as Record<string, string>;
    const event = verified(receiver.secrets, body, headers);
    if (event === undefined) {
      receiver.forged += 1;
      response.writeHead(401).end();
      return;
    }
    const status = await receiver.respond(event);
    if (status < 300) receiver.received.push(event);
    const { retryAfter } = receiver;
    response.writeHead(status, retryAfter && status >= 300 ? { 'retry-after': retryAfter } : {}).end();
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    secrets: [],
    received: [],
    forged: 0,
    respond: () => 204,
    retryAfter: undefined,
    leave: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    comeBack: () => listen(port),
  };
  return receiver;
}

function verified(secrets: string[], body: string, headers: Record<string, string>): Received | undefined {
  for (const secret of secrets) {
    try {
      const { type, data } = new Webhook(secret).verify(body, headers) as {
        type: string;
        data: { name: string; version: number };
      };
      const { 'webhook-id': id, traceparent } = headers;
      return { id: id!, type, name: data.name, version: data.version, traceparent };
    } catch {
      // Ignore the error, because another secret may match.
    }
  }
  return undefined;
}

const added: (() => Promise<unknown>)[] = [];

/** Deletes the webhooks that the test added. */
export async function removeWebhooks(): Promise<void> {
  for (const remove of added.splice(0)) await remove();
}

/** Adds a webhook of the party that points to the receiver. */
export async function addWebhook(
  exchange: TestExchange,
  party: DevParty,
  receiver: Receiver,
  input: object = {},
): Promise<{ name: string; secret: string; createTime: string }> {
  const body = { url: receiver.url, ...input };
  const webhook = await ok(exchange.call(party.token, 'POST', `/v2alpha/${party.name}/webhooks`, body));
  receiver.secrets.push(webhook.secret);
  added.push(() => ok(exchange.call(party.token, 'DELETE', `/v2alpha/${webhook.name}`)));
  return webhook;
}

/**
 * Writes changes to a party's log: `versions` versions of each of `resources` resources, with one transaction per
 * version.
 */
export async function logChanges(
  { database }: Pick<TestExchange, 'database'>,
  party: Pick<DevParty, 'name'>,
  prefix: string,
  resources: number,
  versions: number,
): Promise<void> {
  for (let version = 1; version <= versions; version++) {
    await database.query(
      `INSERT INTO changes (party, name, kind, state, version, time)
       SELECT $1, $1 || '/measurements/' || $2 || n, 'MEASUREMENT', 'COMPUTING', $3, now() FROM generate_series(1, $4) n`,
      [party.name, prefix, version, resources],
    );
  }
}

/** Makes all pending deliveries due, as if time had passed. */
export async function passTime({ database }: TestExchange): Promise<void> {
  await database.query(
    `UPDATE webhook_deliveries SET next_attempt_time = create_time WHERE state = 'PENDING'`,
  );
  await database.query('UPDATE webhooks SET next_attempt_time = create_time');
}
