/** Serves /openapi.json, and the same document as the page /docs, which needs no script and no network. */
import { createHash } from 'node:crypto';
import { ExchangeError, openApiDocument } from '@measurement-exchange/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import type { ExampleParties } from './example.ts';
import { renderPage, STYLE } from './page.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const HEADERS = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** The first exchange of a process builds the document; later ones reuse it. */
let made: ReturnType<typeof makeDocument> | undefined;

function makeDocument() {
  const document = openApiDocument({ version: manifest.version });
  return { document, json: JSON.stringify(document) };
}

/** The callers of the examples are `parties`, which are undefined in production and while demo parties do not exist yet. */
export function registerApiReference(
  app: FastifyInstance,
  parties: () => ExampleParties | undefined = () => undefined,
): void {
  made ??= makeDocument();
  const { document, json } = made;
  let rendered: { parties: ExampleParties | undefined; page: ReturnType<typeof renderPage> } | undefined;

  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json));
  app.get('/docs', (request, reply) => {
    const now = parties();
    if (rendered === undefined || rendered.parties !== now) {
      rendered = { parties: now, page: renderPage(document, now) };
    }
    return reply
      .headers(HEADERS)
      .type('text/html; charset=utf-8')
      .send(rendered.page(addressOf(request)));
  });
  // A browser is redirected to the page; every other caller gets the error of a path without an operation.
  app.get('/', (request, reply) => {
    if (/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.redirect('/docs', 302);
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  });
}

/** The URL at which the reader reached this exchange; `localhost` if the Host header does not look like an address. */
function addressOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
