/**
 * /openapi.json, and /docs: the same document as a page, made on the server. It needs no script and no network,
 * so its policy allows neither.
 */
import { createHash } from 'node:crypto';
import { ExchangeError, type OpenApiDocument, openApiDocument } from '@measurement-exchange/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import type { ExampleParties } from './example.ts';
import { type Page, renderPage, STYLE } from './page.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const HEADERS = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** The first exchange of a process makes it, and others use it again. */
let made: { document: OpenApiDocument; json: string } | undefined;

function makeDocument(): { document: OpenApiDocument; json: string } {
  const document = openApiDocument({ version: manifest.version });
  return { document, json: JSON.stringify(document) };
}

/** The examples call in the name of `parties`, once these exist; production has no example parties. */
export function registerApiReference(
  app: FastifyInstance,
  parties: () => ExampleParties | undefined = () => undefined,
): void {
  made ??= makeDocument();
  const { document, json } = made;
  let rendered: { parties: ExampleParties | undefined; page: Page } | undefined;

  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json));
  app.get('/docs', (request, reply) => {
    const now = parties();
    if (rendered === undefined || rendered.parties !== now) {
      rendered = { parties: now, page: renderPage(document, now) };
    }
    return reply
      .headers(HEADERS)
      .type('text/html; charset=utf-8')
      .send(rendered.page.at(addressOf(request)));
  });
  // A browser is led to the page; every other caller learns that there is no operation here.
  app.get('/', (request, reply) => {
    if (/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.redirect('/docs', 302);
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  });
}

/** Where the reader reached this exchange, as far as it looks like an address. */
function addressOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
