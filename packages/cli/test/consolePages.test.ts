import type { PageContext } from '@measurement-exchange/exchange';
import { createApp } from '@measurement-exchange/server/app';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { consolePages } from '../src/exchange/consolePages.ts';

const ISSUER = {
  issuer: 'https://id.example.com/realms/acme',
  audience: 'mex',
  jwksUri: 'https://id.example.com/keys',
};
/** The context of an exchange in production mode. */
const PRODUCTION: PageContext = {
  development: () => undefined,
  callerOf: async () => 'measurementConsumers/acme',
};
let app: FastifyInstance;

beforeAll(async () => {
  const nothing = () => undefined;
  app = createApp({
    ...{
      tls: undefined,
      trustedProxies: undefined,
      toError: (error) => error as never,
      trace: () => ({}) as never,
    },
    ...{ onRequest: nothing, onError: nothing, onResponse: nothing, onClientError: nothing },
    limits: {
      http: { requestTimeout: 10_000 },
      idleMs: 10_000,
      maxUrl: 1000,
      maxHeaders: 100,
      maxConnections: 10,
    },
  });
  (await consolePages({ issuers: [ISSUER] }))(app, PRODUCTION);
});
afterAll(() => app.close());

it('console.json lists the issuers with their client IDs, and there is no companion in production', async () => {
  expect((await app.inject('/console.json')).json()).toEqual({
    by: 'exchange',
    api: '',
    development: false,
    version: expect.any(String),
    issuers: [{ issuer: ISSUER.issuer, clientId: 'mex', name: 'id.example.com' }],
    companion: false,
  });
  const companion = await app.inject({
    method: 'POST',
    url: '/companion/about',
    headers: { authorization: 'Bearer x' },
  });
  expect(companion.statusCode).toBe(404);
});

it('the page of the console may connect only to its own origin and the issuers', async () => {
  const { headers, statusCode } = await app.inject({
    url: '/measurements/x',
    headers: { accept: 'text/html' },
  });
  expect(statusCode).toBe(200);
  expect(headers['content-security-policy']).toContain("connect-src 'self' https://id.example.com;");
  expect(headers['content-security-policy']).not.toContain('unsafe');
  expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
  expect(headers['cache-control']).toBe('no-store');
});

it('the first load of the console is less than 250 KiB compressed', async () => {
  const get = (url: string) =>
    app.inject({ url, headers: { accept: 'text/html', 'accept-encoding': 'gzip, br' } });
  const { body: html } = await app.inject({ url: '/', headers: { accept: 'text/html' } });
  const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!);
  expect(assets.length).toBeGreaterThan(1);
  const sizes = await Promise.all(['/', ...assets].map(async (url) => (await get(url)).rawPayload.length));
  const total = sizes.reduce((sum, size) => sum + size);
  console.info(`first load of the console: ${Math.round(total / 1024)} KiB compressed`);
  expect(total).toBeLessThan(250 * 1024);
});

it('an unknown path returns 404 to a client that accepts JSON', async () => {
  for (const url of ['/', '/absent', '/v2alphas', '/assets/absent.js', '/%2e%2e/package.json']) {
    const { statusCode, headers } = await app.inject({ url, headers: { accept: 'application/json' } });
    expect([url, statusCode, headers['content-type']]).toEqual([
      url,
      url === '/' ? 200 : 404,
      expect.any(String),
    ]);
  }
});
