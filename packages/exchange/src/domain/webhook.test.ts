import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  endRound,
  isAllowed,
  messageId,
  newWebhook,
  payloadOf,
  printSecret,
  retryAfterSeconds,
  retrySeconds,
  signedHeaders,
  updateWebhook,
  urlProblem,
  type WebhookEvent,
} from './webhook.ts';

/**
 * Webhook URLs that the exchange must reject, because they name or disguise a forbidden host, or have a forbidden form
 * or port.
 */
const FORBIDDEN = [
  // Loopback and unspecified addresses, and localhost, in many spellings.
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.255.255.254/',
  'https://0.0.0.0/',
  'https://0/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://api.localhost/',
  'https://%6c%6f%63%61lhost/',
  'https://１２７.0.0.1/',
  'https://ⓛocalhost/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::]/',
  // IPv4 addresses inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP.
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b::169.254.169.254]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a9fe:a9fe::]/',
  'https://[2001:0:53aa:64c::]/',
  'https://[fe80::5efe:127.0.0.1]/',
  // Private networks.
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.0.1/',
  'https://0xc0a80001/',
  'https://0300.0250.0.1/',
  'https://100.64.0.1/',
  'https://100.127.255.255/',
  'https://[fc00::1]/',
  'https://[fd12:3456:789a::1]/',
  'https://[fec0::1]/',
  // Link-local and metadata services.
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://169.254.170.2/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  'https://168.63.129.16/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://metadata.google.internal/',
  'https://metadata/',
  // Multicast, broadcast, reserved and unassigned addresses.
  'https://224.0.0.1/',
  'https://239.255.255.250/',
  'https://255.255.255.255/',
  'https://240.0.0.1/',
  'https://192.0.2.1/',
  'https://198.18.0.1/',
  'https://198.51.100.7/',
  'https://203.0.113.7/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  'https://[3fff::1]/',
  'https://[100::1]/',
  // Names that resolve only inside a private network.
  'https://intranet/',
  'https://printer.local/',
  'https://db.internal/',
  'https://nas.lan/',
  'https://router.home.arpa/',
  // URLs that are not plain https URLs.
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  '//example.com/',
  'https:example.com',
  'https:///example.com/',
  'https://user:password@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com\\@127.0.0.1/',
  'https://example.com#@127.0.0.1/',
  'https://example.com/#',
  'https://example.com/\r\nhost: 127.0.0.1',
  ' https://example.com/',
  'https://',
  // Ports below 1024 other than the https port 443. They are reserved for well-known services.
  'https://example.com:22/',
  'https://example.com:25/',
  'https://example.com:80/',
  'https://example.com:465/',
  'https://example.com:1023/',
];

describe('the URL of a webhook', () => {
  it('is tested with at least 60 different forbidden URLs', () => {
    expect(FORBIDDEN.length).toBeGreaterThanOrEqual(60);
    expect(new Set(FORBIDDEN).size).toBe(FORBIDDEN.length);
  });

  it.each(FORBIDDEN)('must not be %s', (url) => {
    expect(urlProblem(url, false)).toMatch(/^must/);
  });

  it.each([
    'https://example.com/',
    'https://hooks.example.com/a/b?c=d',
    'https://EXAMPLE.com:443/',
    'https://example.com:8443/',
    'https://example.com:1024/',
    'https://xn--bcher-kva.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
  ])('may be %s', (url) => {
    expect(urlProblem(url, false)).toBeUndefined();
  });

  it('may be http on loopback in development mode, but not another private address', () => {
    const local = ['http://127.0.0.1:8080/', 'http://localhost:80/hook', 'http://[::1]:9/'];
    expect(local.map((url) => urlProblem(url, true))).toEqual(local.map(() => undefined));
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://[fd00:ec2::254]/']) {
      expect(urlProblem(url, true)).toMatch(/must not point to/);
    }
  });

  it('has no allowed address if the address has a zone or is not an IP address', () => {
    for (const text of ['fe80::1%eth0', '2606:4700::1%eth0', 'example.com', '']) {
      expect(isAllowed(text, true)).toBe(false);
    }
  });
});

const event: WebhookEvent = {
  name: 'measurementConsumers/acme/measurements/m',
  kind: 'MEASUREMENT',
  state: 'SUCCEEDED',
  version: 3,
  time: '2026-11-16T20:00:00.000000Z',
};
const seconds = () => Math.floor(Date.now() / 1000);

describe('a webhook message', () => {
  const secret = randomBytes(32);
  const id = messageId('w', event);
  const payload = payloadOf(event);

  it('is verified by the library of Standard Webhooks', () => {
    const headers = signedHeaders(id, seconds(), payload, [secret]);
    expect(new Webhook(printSecret(secret)).verify(payload, headers)).toEqual({
      type: 'measurement.changed',
      timestamp: event.time,
      data: event,
    });
  });

  it('is verified with the old secret and with the new one during a rotation', () => {
    const old = randomBytes(32);
    const headers = signedHeaders(id, seconds(), payload, [secret, old]);
    for (const key of [secret, old]) new Webhook(printSecret(key)).verify(payload, headers);
    const other = new Webhook(printSecret(randomBytes(32)));
    expect(() => other.verify(payload, headers)).toThrow('No matching signature');
  });

  it.each([
    ['another body', (h: Record<string, string>) => ({ body: `${payload} `, headers: h })],
    [
      'another ID',
      (h: Record<string, string>) => ({ body: payload, headers: { ...h, 'webhook-id': 'msg_x' } }),
    ],
    [
      'another time',
      (h: Record<string, string>) => ({
        body: payload,
        headers: { ...h, 'webhook-timestamp': String(seconds() - 9) },
      }),
    ],
  ])('is not verified with %s', (_what, change) => {
    const { body, headers } = change(signedHeaders(id, seconds(), payload, [secret]));
    expect(() => new Webhook(printSecret(secret)).verify(body, headers)).toThrow();
  });

  it('has the same ID for every attempt, and another ID for another version, resource, time or webhook', () => {
    expect(messageId('w', { ...event })).toBe(id);
    const others = [{ version: 4 }, { name: 'dataProviders/x' }, { time: '2026-11-16T20:00:00.000001Z' }];
    const ids = others.map((other) => messageId('w', { ...event, ...other }));
    expect(new Set([id, messageId('v', event), ...ids]).size).toBe(5);
  });

  it('has a type for the kind of the changed resource, or webhook.test', () => {
    const typeOf = (kind: WebhookEvent['kind']) => JSON.parse(payloadOf({ ...event, kind })).type;
    expect([typeOf('REQUISITION'), typeOf('TEST')]).toEqual(['requisition.changed', 'webhook.test']);
  });
});

describe('retries', () => {
  it('back off by a factor of 3 up to six hours, with a jitter of 25 percent', () => {
    expect([1, 2, 3, 4].map((n) => retrySeconds(n, 0.5))).toEqual([5, 15, 45, 135]);
    expect(retrySeconds(50, 0.5)).toBe(6 * 3600);
    expect([retrySeconds(1, 0), retrySeconds(1, 1)]).toEqual([3.75, 6.25]);
  });

  const now = '2026-11-16T20:00:00.000000Z';
  const failed = { state: 'PENDING', status: 500 };
  const delivered = { state: 'DELIVERED', status: 204 };

  it.each([
    [undefined, 0],
    ['120', 120],
    ['0', 0],
    ['-5', 0],
    ['soon', 0],
    ['999999999', 6 * 3600],
    ['Tue, 17 Nov 2026 00:02:00 GMT', 120],
    ['Mon, 16 Nov 2026 00:00:00 GMT', 0],
    ['Wed, 17 Nov 2027 00:00:00 GMT', 6 * 3600],
  ])('wait with Retry-After %j for at least %d seconds', (header, seconds) => {
    expect(retryAfterSeconds(header, '2026-11-17T00:00:00.000000Z')).toBe(seconds);
  });

  it('count failed rounds of an endpoint, and one successful delivery resets the count', () => {
    const round = { failures: 4, settled: [failed], failingSince: [now] };
    expect(endRound(round, now)).toEqual({ failures: 5, isDead: true, pauseReason: undefined });
    expect(endRound({ ...round, settled: [failed, delivered] }, now)).toMatchObject({
      failures: 0,
      isDead: false,
    });
  });

  it('end after three days, or with 410 Gone: the webhook is paused', () => {
    const round = { failures: 1, settled: [failed] };
    const pausedSince = (since: string) => endRound({ ...round, failingSince: [since] }, now).pauseReason;
    expect(pausedSince('2026-11-13T20:00:01.000000Z')).toBeUndefined();
    expect(pausedSince('2026-11-13T19:59:59.000000Z')).toMatch(/failed for 3 days/);
    const older = { ...round, failingSince: [now, '2026-11-13T19:59:59.000000Z'] };
    expect(endRound(older, now).pauseReason).toMatch(/failed for 3 days/);
    const ended = (state: string) =>
      endRound({ failures: 0, settled: [failed, { state, status: 410 }], failingSince: [now] }, now);
    expect(ended('PENDING').pauseReason).toMatch(/410/);
    // FAILED is the state of a failed test delivery, which does not pause the webhook. Other failed deliveries stay
    // PENDING.
    expect(ended('FAILED').pauseReason).toBeUndefined();
    expect(endRound({ failures: 3, settled: [], failingSince: [] }, now)).toMatchObject({ isDead: false });
  });
});

describe('an update of a webhook', () => {
  const now = '2026-11-16T20:00:00.000000Z';
  const input = { url: 'https://a.example/', description: 'ours', filter: { kinds: ['PARTY' as const] } };
  const before = newWebhook('dataProviders/x', 'w', input, now, false);
  const paused = { ...before, state: 'PAUSED' as const, pauseReason: 'dead' };

  it('replaces only the given fields, and sets a later update time', () => {
    const after = updateWebhook(before, { url: 'https://b.example/' }, now, false);
    expect(after).toEqual({
      ...before,
      url: 'https://b.example/',
      updateTime: '2026-11-16T20:00:00.000001Z',
    });
    expect(updateWebhook(before, { filter: {}, description: '' }, now, false)).toMatchObject({
      ...{ kinds: [], description: '', url: before.url },
    });
    expect(() => updateWebhook(before, { url: 'http://127.0.0.1/' }, now, false)).toThrow();
  });

  it('keeps the pause reason until the webhook is active again', () => {
    expect(updateWebhook(paused, { description: 'x' }, now, false).pauseReason).toBe('dead');
    expect(updateWebhook(paused, { state: 'ACTIVE' }, now, false).pauseReason).toBeUndefined();
    expect(updateWebhook(before, { state: 'PAUSED' }, now, false).pauseReason).toMatch(/owner/);
  });
});
