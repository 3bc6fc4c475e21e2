/**
 * /openapi.json, and /docs: the same document as a page, made on the server. It needs no script and no network,
 * so its policy allows neither.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  ExchangeError,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiOptions,
  type OpenApiParameter,
  type OpenApiResponse,
  openApiDocument,
  REASONS,
  type Reason,
} from '@measurement-exchange/contract';
import type { FastifyInstance } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import { exampleOf, fieldsOf, notesOf, type Schemas, typeOf } from './docsSchema.ts';
import { JSON_TYPE } from './errors.ts';
import { Html, html, prose } from './html.ts';

/** An operation with its address. */
interface Entry extends OpenApiOperation {
  path: string;
  method: string;
}

const STYLE = readFileSync(new URL('docs.css', import.meta.url), 'utf8');
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const CONTENT_SECURITY_POLICY =
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function registerDocs(
  app: FastifyInstance,
  options: OpenApiOptions = { version: manifest.version },
): void {
  const document = openApiDocument(options);
  const json = JSON.stringify(document);
  const page = renderDocs(document);
  app.get('/openapi.json', (_request, reply) => reply.type(JSON_TYPE).send(json));
  app.get('/docs', (_request, reply) =>
    reply
      .headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8')
      .send(page),
  );
}

function renderDocs(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ ...operation, path, method })),
  );
  const groups = document.tags.map((tag) => ({
    ...tag,
    id: tag.name.toLowerCase().replaceAll(' ', '-'),
    entries: entries.filter((entry) => entry.tags.includes(tag.name)),
  }));
  const { title, version, description } = document.info;
  const { schemas } = document.components;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<nav aria-label="Contents">
<p class="brand"><a href="#top">${title}</a> <span>${version}</span></p>
<ul>
<li><a href="#authentication">Authentication</a></li>
${groups.map(
  ({ id, name, entries }) => html`<li><a href="#${id}">${name}</a>
<ul>${entries.map(({ operationId, method, summary }) => html`<li><a href="#${operationId}">${badge(method)} <span>${prose(summary)}</span></a></li>\n`)}</ul></li>\n`,
)}
<li><a href="#errors">Errors</a></li>
<li><a href="/openapi.json">openapi.json</a></li>
</ul>
</nav>
<main id="top">
<h1>${title} API</h1>
${description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>\n`)}
${authentication(document)}
${groups.map(
  ({ id, name, description, entries }) => html`<section id="${id}">
<h2>${name}</h2>
<p>${prose(description)}</p>
${entries.map((entry) => operation(entry, schemas))}
</section>\n`,
)}
${errors(schemas)}
</main>
</body>
</html>
`.text;
}

function authentication(document: OpenApiDocument): Html {
  return html`<section id="authentication">
<h2>Authentication</h2>
<p>Every call carries a token in <code>Authorization: Bearer</code>.
${prose(document.components.securitySchemes.idToken!.description!)}</p>
<p>A missing or bad token is answered with 401 ${reason('TOKEN_INVALID')}, whatever is wrong with it. A good one
that is bound to no principal gets 403 ${reason('PRINCIPAL_UNKNOWN')}. What a principal may not do is decided from
the names alone: 403 ${reason('PERMISSION_DENIED')} does not tell whether something exists.</p>
<p>The examples below need two variables; in development mode the command line hands out tokens:</p>
<pre><code>EXCHANGE=http://127.0.0.1:8080
TOKEN=$(npm run --silent mex -- token measurementConsumers/mc1)</code></pre>
</section>`;
}

function operation(entry: Entry, schemas: Schemas): Html {
  const { operationId, method, path, summary, description, parameters, requestBody } = entry;
  const answer = (entry.responses[200] as OpenApiResponse).content['application/json'].schema;
  return html`<article id="${operationId}">
<h3><a href="#${operationId}">${prose(summary)}</a> <code class="type">${operationId}</code></h3>
<p class="address">${badge(method)} <code>${address(path)}</code></p>
<p class="callers">${prose(description)}</p>
${parameters.length > 0 ? parameterTable(parameters) : ''}
${
  requestBody &&
  html`<details><summary>Request body</summary>
<p>${prose(requestBody.description)}</p>
${fieldsOf(requestBody.content['application/json'].schema, schemas)}</details>`
}
<details><summary>Answer <span class="type">${typeOf(answer)}</span></summary>
${fieldsOf(answer, schemas)}</details>
<details><summary>Example</summary>
<pre><code>${curl(entry, schemas)}</code></pre></details>
</article>\n`;
}

/** IDs stand out, and lines break between segments. */
function address(path: string): Html {
  const segments = path.split(/(?=[/:])/);
  return html`${segments.map((segment) => html`<wbr>${segment.split(/(\{\w+\})/).map((part, i) => (i % 2 === 0 ? part : html`<i>${part}</i>`))}`)}`;
}

function parameterTable(parameters: OpenApiParameter[]): Html {
  return html`<table>
<thead><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>
${parameters.map(
  ({ name, in: place, required, schema, description }) =>
    html`<tr><td><code>${name}</code>${required && place === 'query' ? html` <span class="required">required</span>` : ''}</td>
<td>${place}</td><td>${typeOf(schema)}</td><td>${notesOf(schema, description)}</td></tr>\n`,
)}</tbody>
</table>`;
}

/** The smallest call that is well-formed. */
function curl({ method, path, parameters, requestBody }: Entry, schemas: Schemas): string {
  const required = parameters.filter((parameter) => parameter.required);
  const [inPath, inQuery] = (['path', 'query'] as const).map((place) =>
    required
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema }) => ({ name, value: exampleOf(schema, schemas) })),
  ) as [Example[], Example[]];
  const url = inPath.reduce((text, { name, value }) => text.replace(`{${name}}`, String(value)), path);
  const query = inQuery.map(({ name, value }) => `${name}=${[value].flat().join(`&${name}=`)}`).join('&');
  const lines = [
    `curl "$EXCHANGE${url}${query === '' ? '' : `?${query}`}"`,
    '-H "Authorization: Bearer $TOKEN"',
  ];
  if (method !== 'get') lines.push(`-X ${method.toUpperCase()}`);
  if (requestBody?.required) {
    const body = JSON.stringify(exampleOf(requestBody.content['application/json'].schema, schemas), null, 2);
    lines.push("-H 'Content-Type: application/json'", `-d '${body}'`);
  }
  return lines.join(' \\\n  ');
}
interface Example {
  name: string;
  value: unknown;
}

function errors(schemas: Schemas): Html {
  return html`<section id="errors">
<h2>Errors</h2>
<p>Every error has this body; <code>reason</code> is one of the closed list below.</p>
<details><summary>Error body <span class="type">Status</span></summary>
${fieldsOf(schemas.Status!, schemas)}</details>
<table>
<thead><tr><th>Reason</th><th>Code</th><th>HTTP</th><th>Meaning</th></tr></thead>
<tbody>
${Object.entries(REASONS).map(([name, { meaning }]) => {
  const { code, httpStatus } = new ExchangeError(name as Reason, meaning);
  return html`<tr id="${name}"><td><code>${name}</code></td><td>${code}</td><td>${httpStatus}</td><td>${prose(meaning)}</td></tr>\n`;
})}</tbody>
</table>
</section>`;
}

function reason(name: Reason): Html {
  return html`<a href="#${name}"><code>${name}</code></a>`;
}

function badge(method: string): Html {
  return html`<b class="method ${method}">${method.toUpperCase()}</b>`;
}
