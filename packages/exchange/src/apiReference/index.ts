/**
 * Serves /openapi.json, and the same document as a page at /docs. The page loads no scripts and nothing from other
 * hosts.
 */
import { createHash } from 'node:crypto';
import { ExchangeError, openApiDocument } from '@measurement-exchange/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import { sendCompressed } from './compressed.ts';
import type { ExampleParties } from './example.ts';
import { type Reference, renderReference, STYLE } from './page.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const HEADERS = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

let made: ReturnType<typeof makeDocument> | undefined;

function makeDocument() {
  const document = openApiDocument({ version: manifest.version });
  return { document, json: JSON.stringify(document) };
}

/**
 * Registers the routes. `parties` returns the parties that the examples use, or undefined if no demo parties exist. If
 * `isHome` is true, browsers that open `/` are redirected to `/docs`.
 */
export function registerApiReference(
  app: FastifyInstance,
  parties: () => ExampleParties | undefined = () => undefined,
  isHome = true,
): void {
  made ??= makeDocument();
  const { document, json } = made;
  let rendered: { parties: ExampleParties | undefined; reference: Reference } | undefined;

  app.get('/openapi.json', (request, reply) =>
    sendCompressed(request, reply.type('application/json; charset=utf-8'), json),
  );
  app.get('/docs', (request, reply) => {
    const now = parties();
    if (rendered === undefined || rendered.parties !== now) {
      rendered = { parties: now, reference: renderReference(document, now) };
    }
    const { page, search } = rendered.reference;
    const { q: query } = request.query as { q?: unknown };
    reply.headers(HEADERS).type('text/html; charset=utf-8');
    if (typeof query === 'string' && query.trim() !== '') return reply.send(search(query));
    return sendCompressed(request, reply, page(addressOf(request)));
  });
  if (!isHome) return;
  app.get('/', (request, reply) => {
    if (/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.redirect('/docs', 302);
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  });
}

/**
 * Returns the exchange's URL as the browser sees it. Replaces a Host header that does not look like an address with
 * `localhost`.
 */
function addressOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
