import { createHash } from 'node:crypto';
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
import { registerDocs } from './docs.ts';
import { html, prose } from './html.ts';

const options = { version: '1.2.3' };
const app = Fastify();
registerDocs(app, options);
const answer = await app.inject('/docs');
const page = answer.body;
const operationIds = Object.values(openApiDocument(options).paths)
  .flatMap((methods) => Object.values(methods))
  .map(({ operationId }) => operationId);

function plain(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!);
}

it('/openapi.json is the OpenAPI document', async () => {
  const json = await app.inject('/openapi.json');
  expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(json.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument(options))));
});

describe('/docs', () => {
  it('has a place for every operation and every error reason, and no dead link within the page', () => {
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining([...operationIds, ...Object.keys(REASONS)]));
    const links = [...page.matchAll(/ href="#([^"]+)"/g)].map((match) => match[1]!);
    expect(links).toEqual(expect.arrayContaining(operationIds));
    expect(links.filter((link) => !ids.includes(link))).toEqual([]);
  });

  it('loads nothing and runs nothing, and its policy allows only its own style', () => {
    expect(page).not.toMatch(
      /<(script|link|img|iframe)\b|\ssrc=|\sstyle=|\son\w+=|href="(?!#|\/openapi\.json)/,
    );
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(answer.headers['content-security-policy']).toContain(
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

  it('shows for every operation a call that the exchange would read without objection', () => {
    const examples = [...page.matchAll(/<pre><code>(curl [\s\S]*?)<\/code>/g)].map((match) =>
      plain(match[1]!),
    );
    expect(examples).toHaveLength(ROUTES.length);
    for (const example of examples) {
      const [, path, query = ''] = /^curl "\$EXCHANGE([^?"]+)\??([^"]*)"/.exec(example)!;
      const method = / -X (\w+)/.exec(example)?.[1] ?? 'GET';
      const body = / -d '([^']*)'$/.exec(example)?.[1];
      const { route, params } = matchRoute(method, path!);
      const read = () =>
        readRequest(route, params, query, body === undefined ? body : parseJsonBytes(Buffer.from(body)));
      expect(read, example).not.toThrow();
    }
  });

  it('leaves out of requests what is output only', () => {
    const [request, response] = page.split('id="createMeasurement"')[1]!.split('<summary>Answer');
    expect(request).not.toContain('<code>createTime</code>');
    expect(response).toContain('<code>createTime</code>');
  });
});

describe('html', () => {
  it('escapes text wherever it stands, and keeps what html made', () => {
    const hostile = `"><script>'&`;
    const escaped = '&quot;&gt;&lt;script&gt;&#39;&amp;';
    expect(html`<a title="${hostile}">${[hostile, html`<b>${1}</b>`, undefined]}</a>`.text).toBe(
      `<a title="${escaped}">${escaped}<b>1</b></a>`,
    );
    expect(prose('a `<b>` c').text).toBe('a <code>&lt;b&gt;</code> c');
  });
});
