/** Renders the OpenAPI document as an HTML page. */
import { readFileSync } from 'node:fs';
import {
  ExchangeError,
  errorsOf,
  httpStatusOf,
  matchRoute,
  type OpenApiDocument,
  type OpenApiParameter,
  type OpenApiResponse,
  REASONS,
  type Reason,
  type Route,
} from '@measurement-exchange/contract';
import { curl, type Entry, type ExampleParties, setupOf } from './example.ts';
import { Html, html, prose } from './html.ts';
import { fieldsOf, notesOf, type Schemas, typeOf } from './schema.ts';
import { findableErrors, findableOperation, searchForm, searchResults } from './search.ts';

export const STYLE = readFileSync(new URL('page.css', import.meta.url), 'utf8');

/**
 * A placeholder for the exchange's address, which is known only when the page is served. The page contains this
 * character nowhere else.
 */
const ADDRESS = '\u{fffd}';

export interface Reference {
  page: (address: string) => string;
  search: (query: string) => string;
}

/** Renders the page once. The returned functions only insert the address or run a search. */
export function renderReference(document: OpenApiDocument, parties: ExampleParties | undefined): Reference {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => {
      const { route } = matchRoute(method.toUpperCase(), path.replaceAll(/[{}]/g, ''));
      return { ...operation, path, method, route };
    }),
  );
  const { schemas } = document.components;
  const articles = new Map(entries.map((entry) => [entry, operation(entry, schemas, parties)]));
  const groups = document.tags.map((tag) => ({
    ...tag,
    id: tag.name.toLowerCase().replaceAll(' ', '-'),
    entries: entries.filter((entry) => entry.tags.includes(tag.name)),
  }));
  const { title, version, description } = document.info;
  const contents = html`<nav aria-label="Contents">
<p class="brand"><a href="#top">${title}</a> <span>${version}</span></p>
${searchForm()}
<ul>
<li><a href="#authentication">Authentication</a></li>
${groups.map(
  ({ id, name, entries }) => html`<li><a href="#${id}">${name}</a>
<ul>${entries.map(({ operationId, method, summary }) => html`<li><a href="#${operationId}">${badge(method)} <span>${prose(summary)}</span></a></li>\n`)}</ul></li>\n`,
)}
<li><a href="#errors">Errors</a></li>
<li><a href="/openapi.json">openapi.json</a></li>
</ul>
</nav>`;
  const main = html`<main id="top">
<h1>${title} API</h1>
${description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>\n`)}
${authentication(document, parties)}
${groups.map(
  ({ id, name, description, entries }) => html`<section id="${id}">
<h2>${name}</h2>
<p>${prose(description)}</p>
${entries.map((entry) => articles.get(entry))}
</section>\n`,
)}
${errors()}
</main>`;
  const pieces = documentOf(title, html`${contents}\n${main}`).split(ADDRESS);
  const findable = [
    ...[...articles].map(([entry, article]) => findableOperation(entry, article)),
    ...findableErrors(),
  ];
  return {
    page: (address) => pieces.join(html`${address}`.text),
    search: (query) =>
      documentOf(
        title,
        html`<nav aria-label="Contents">
<p class="brand"><a href="/docs">${title}</a> <span>${version}</span></p>
${searchForm(query)}
</nav>
<main>
<h1>Search</h1>
${searchResults(findable, query)}
</main>`,
      ),
  };
}

function documentOf(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
}

function authentication(document: OpenApiDocument, parties: ExampleParties | undefined): Html {
  return html`<section id="authentication">
<h2>Authentication</h2>
<p>Every call carries a token in <code>Authorization: Bearer</code>.
${prose(document.components.securitySchemes.idToken!.description!)}</p>
<p>A missing or bad token is rejected with 401 ${link('TOKEN_INVALID')}, whatever is wrong with it. A good one
that is bound to no principal gets 403 ${link('PRINCIPAL_UNKNOWN')}. What a principal may not do is decided from
the names alone: 403 ${link('PERMISSION_DENIED')} does not tell whether something exists.</p>
<p>The examples below need these variables${parties === undefined ? '' : '; in development mode the command line hands out tokens of the demo parties'}:</p>
<pre><code>MEX_URL=${ADDRESS}
${setupOf(parties)}</code></pre>
</section>`;
}

function operation(entry: Entry, schemas: Schemas, parties: ExampleParties | undefined): Html {
  const { operationId, method, path, summary, description, parameters, requestBody, route } = entry;
  const response = Object.values((entry.responses[200] as OpenApiResponse).content)[0]!.schema;
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
<details><summary>Response <span class="type">${typeOf(response)}</span></summary>
${fieldsOf(response, schemas)}</details>
<details><summary>Errors</summary>
${operationErrors(route)}</details>
<details><summary>Example</summary>
<pre><code>${curl(entry, schemas, parties)}</code></pre></details>
</article>\n`;
}

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

function operationErrors(route: Route): Html {
  const byStatus = [...Map.groupBy(errorsOf(route), ({ httpStatus }) => httpStatus)].sort(
    ([a], [b]) => a - b,
  );
  return html`<ul class="errors">
${byStatus.map(
  ([status, errors]) =>
    html`<li><b>${status}</b> <span>${errors.map(({ reason }, i) => html`${i > 0 ? ', ' : ''}${link(reason)}`)}</span></li>\n`,
)}</ul>`;
}

const EXAMPLE_ERROR = new ExchangeError(
  'MEASUREMENT_NOT_FOUND',
  'measurementConsumers/mc1/measurements/m1 does not exist.',
  {
    metadata: { measurement: 'measurementConsumers/mc1/measurements/m1' },
  },
);

function errors(): Html {
  return html`<section id="errors">
<h2>Errors</h2>
<p>Every error has a body like this one; <code>reason</code> is one of the closed list below. Wrong fields add a
<code>google.rpc.BadRequest</code> that names each of them, limits a <code>google.rpc.RetryInfo</code>.</p>
<pre><code>${JSON.stringify(EXAMPLE_ERROR, null, 2)}</code></pre>
<table>
<thead><tr><th>Reason</th><th>Code</th><th>HTTP</th><th>Meaning</th></tr></thead>
<tbody>
${Object.entries(REASONS).map(
  ([name, { code, meaning }]) =>
    html`<tr id="${name}"><td><code>${name}</code></td><td>${code}</td><td>${httpStatusOf(name as Reason, code)}</td><td>${prose(meaning)}</td></tr>\n`,
)}</tbody>
</table>
</section>`;
}

function link(name: Reason): Html {
  return html`<a href="#${name}"><code>${name}</code></a>`;
}

function badge(method: string): Html {
  return html`<b class="method ${method}">${method.toUpperCase()}</b>`;
}
