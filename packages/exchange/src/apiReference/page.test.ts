import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import {
  matchRoute,
  openApiDocument,
  parseJsonBytes,
  REASONS,
  ROUTES,
  readRequest,
} from '@measurement-exchange/contract';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { html, prose } from './html.ts';
import { registerApiReference } from './index.ts';

const PARTIES = {
  measurementConsumers: [
    { name: 'measurementConsumers/acme', certificate: 'measurementConsumers/acme/certificates/a' },
  ],
  dataProviders: [
    { name: 'dataProviders/daily-news', certificate: 'dataProviders/daily-news/certificates/n' },
  ],
};
const production = Fastify();
registerApiReference(production);
const development = Fastify();
registerApiReference(development, () => PARTIES);
const response = await production.inject('/docs');
const page = response.body;
const demoPage = (await development.inject({ url: '/docs', headers: { host: 'exchange.example:8443' } }))
  .body;
const document = openApiDocument({ version: manifest.version });
const operationIds = Object.values(document.paths)
  .flatMap((methods) => Object.values(methods))
  .map(({ operationId }) => operationId);

function plain(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!);
}

function examplesOf(shown: string): string[] {
  return [...shown.matchAll(/<pre><code>(curl [\s\S]*?)<\/code>/g)].map((match) => plain(match[1]!));
}

it('/openapi.json is the OpenAPI document', async () => {
  const json = await production.inject('/openapi.json');
  expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(json.json()).toEqual(JSON.parse(JSON.stringify(document)));
});

describe('/docs', () => {
  it('has an anchor for every operation and error reason, and no broken link within the page', () => {
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining([...operationIds, ...Object.keys(REASONS)]));
    const links = [...page.matchAll(/ href="#([^"]+)"/g)].map((match) => match[1]!);
    expect(links).toEqual(expect.arrayContaining(operationIds));
    expect(links.filter((link) => !ids.includes(link))).toEqual([]);
  });

  it('loads no resources and runs no scripts, and its Content-Security-Policy allows only its inline style', () => {
    expect(page).not.toMatch(
      /<(script|link|img|iframe)\b|\ssrc=|\sstyle=|\son\w+=|href="(?!#|\/openapi\.json)/,
    );
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers['content-security-policy']).toContain(
      `default-src 'none'; style-src 'sha256-${hash}';`,
    );
  });

  it('closes every element that it opens', () => {
    for (const element of [
      'details',
      'summary',
      'ul',
      'li',
      'table',
      'tr',
      'td',
      'article',
      'section',
      'p',
      'code',
    ]) {
      const opened = page.match(new RegExp(`<${element}[ >]`, 'g'))?.length;
      expect(page.split(`</${element}>`).length - 1, element).toBe(opened);
    }
  });

  it.each([
    ['made-up names', page],
    ['the names of demo parties', demoPage],
  ])('shows a valid example call for every operation, with %s', (_title, shown) => {
    const examples = examplesOf(shown);
    expect(examples).toHaveLength(ROUTES.length);
    for (const example of examples) {
      const [, path, query = ''] = /^curl "\$MEX_URL([^?"]+)\??([^"]*)"/.exec(example)!;
      const method = / -X (\w+)/.exec(example)?.[1] ?? 'GET';
      const body = / -d '([^']*)'$/.exec(example)?.[1];
      const { route, params } = matchRoute(method, path!);
      const read = () =>
        readRequest(route, params, query, body === undefined ? body : parseJsonBytes(Buffer.from(body)));
      expect(read, example).not.toThrow();
    }
  });

  it('omits output-only fields from requests', () => {
    const [request, rest] = page.split('id="createMeasurement"')[1]!.split('<summary>Response');
    expect(request).not.toContain('<code>createTime</code>');
    expect(rest).toContain('<code>createTime</code>');
  });

  it('lists the errors of an operation by HTTP status', () => {
    const [, article] = page.split('id="refuseRequisition"');
    expect(article!.split('</article>')[0]).toContain(
      '<li><b>409</b> <span><a href="#REQUISITION_ETAG_MISMATCH"><code>REQUISITION_ETAG_MISMATCH</code></a></span></li>',
    );
  });

  it('shows the host of the request in MEX_URL, or localhost if the host is invalid', async () => {
    expect(demoPage).toContain('MEX_URL=http://exchange.example:8443\n');
    const hostile = await production.inject({ url: '/docs', headers: { host: 'a"><b>;$(x)' } });
    expect(hostile.body).toContain('MEX_URL=http://localhost\n');
  });

  it('uses the demo parties in its examples, and fetches their tokens without showing them', () => {
    expect(plain(demoPage)).toContain(
      'OPERATOR_TOKEN=$(npm run -s mex -- token operator)\n' +
        'ACME_TOKEN=$(npm run -s mex -- token measurementConsumers/acme)\n' +
        'DAILY_NEWS_TOKEN=$(npm run -s mex -- token dataProviders/daily-news)',
    );
    const examples = examplesOf(demoPage);
    const of = (place: string) =>
      examples.find((example) => example.startsWith(`curl "$MEX_URL/v2alpha/${place}"`))!;
    expect(of('dataProviders/daily-news/requisitions')).toContain('Bearer $DAILY_NEWS_TOKEN');
    expect(of('principals')).toContain('Bearer $OPERATOR_TOKEN');
    const create = examples.find((example) => example.includes('"measurementSpec"'))!;
    expect(create).toContain('/measurementConsumers/acme/measurements"');
    expect(create).toContain('Bearer $ACME_TOKEN');
    expect(create).toContain('"measurementConsumerCertificate": "measurementConsumers/acme/certificates/a"');
    expect(create).toContain('"dataProviders/daily-news": {');
    expect(examples.join()).not.toMatch(/\b(?:mc1|dp1)\b/);
  });

  it('is compressed with gzip if the client accepts it, and so is /openapi.json', async () => {
    for (const url of ['/docs', '/openapi.json']) {
      const plain = await production.inject(url);
      for (const accepted of ['gzip', 'br, gzip;q=0.5', '*', 'GZIP; q=0.05']) {
        const reply = await production.inject({ url, headers: { 'accept-encoding': accepted } });
        expect(reply.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
        expect(reply.rawPayload.length).toBeLessThan(plain.rawPayload.length / 6);
        expect(gunzipSync(reply.rawPayload).toString()).toBe(plain.body);
      }
      for (const accepted of ['', 'br', 'gzip;q=0', 'gzip;q=0.0, *', 'identity']) {
        const reply = await production.inject({ url, headers: { 'accept-encoding': accepted } });
        expect(reply.headers).not.toHaveProperty('content-encoding');
        expect(reply.body).toBe(plain.body);
      }
    }
  });

  it('searches operations, fields and errors without scripts, and shows the best match first', async () => {
    const found = async (query: string) =>
      (await production.inject(`/docs?q=${encodeURIComponent(query)}`)).body;
    const ids = async (query: string) =>
      [...(await found(query)).matchAll(/href="\/docs#(\w+)"/g)].map((m) => m[1]);
    expect((await ids('cancel measurement'))[0]).toBe('cancelMeasurement');
    expect(await ids('dataProviderPublicKey')).toContain('createMeasurement');
    expect(await ids('RATE_LIMITED')).toContain('RATE_LIMITED');
    expect((await ids('measurement')).filter((id) => !page.includes(` id="${id}"`))).toEqual([]);
    expect(await ids('no such words')).toEqual([]);
    const hostile = await found('"><script>alert(1)</script>');
    expect(hostile).toContain('value="&quot;&gt;&lt;script&gt;alert(1)');
    expect(hostile).not.toContain('<script');
    expect(page).toContain('<form action="/docs" role="search">');
    expect(response.headers['content-security-policy']).toContain("form-action 'self'");
  });

  it('shows the demo parties as soon as they exist', async () => {
    let parties: typeof PARTIES | undefined;
    const app = Fastify();
    registerApiReference(app, () => parties);
    expect((await app.inject('/docs')).body).toContain('TOKEN=… #');
    parties = PARTIES;
    expect((await app.inject('/docs')).body).toContain('ACME_TOKEN');
  });
});

describe('/', () => {
  it('redirects a browser to /docs', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const { statusCode, headers } = await production.inject({ url: '/', headers: { accept } });
    expect([statusCode, headers.location]).toEqual([302, '/docs']);
  });

  it.each([undefined, '*/*', 'application/json'])(
    'does not redirect other clients, with accept header %s',
    async (accept) => {
      const { statusCode } = await production.inject({ url: '/', headers: accept ? { accept } : {} });
      expect(statusCode).not.toBe(302);
    },
  );
});

describe('html', () => {
  it('escapes text in attributes and elements, but not nested results of html', () => {
    const hostile = `"><script>'&`;
    const escaped = '&quot;&gt;&lt;script&gt;&#39;&amp;';
    expect(html`<a title="${hostile}">${[hostile, html`<b>${1}</b>`, undefined]}</a>`.text).toBe(
      `<a title="${escaped}">${escaped}<b>1</b></a>`,
    );
    expect(prose('a `<b>` c').text).toBe('a <code>&lt;b&gt;</code> c');
  });
});
