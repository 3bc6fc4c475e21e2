/** Generates an OpenAPI 3.1 document from the routes, for code generators, viewers, and the /docs page. */
import * as shapes from '../codecs/components.ts';
import type { Route } from '../routes/route.ts';
import { API_PREFIX, ROUTES } from '../routes.ts';
import { ErrorPrinter } from './errors.ts';
import { printOperation } from './operation.ts';
import { HEADERS } from './response.ts';
import { SchemaPrinter } from './schemaPrinter.ts';
import { TAGS } from './tags.ts';
import type { OpenApiDocument } from './types.ts';

const INFO = `Advertisers and publishers measure together without showing each other their data.

Bytes are base64 (URL-safe and unpadded are accepted too), times are RFC 3339 in UTC, fields are lowerCamelCase
(snake_case is accepted too). Unknown fields and parameters are rejected. Every response carries \`x-request-id\`.

Each operation lists every error that it can give: the HTTP status, and the reasons under it. A path without an
operation is 404 \`ROUTE_NOT_FOUND\`, another method 405 \`METHOD_NOT_ALLOWED\`.`;

const AUTHENTICATION =
  'The token is an OpenID Connect ID token from an issuer that the exchange trusts. Its issuer and subject are ' +
  'bound to one principal: a measurement consumer, a data provider, a duchy, or the operator.';

export function openApiDocument(options: { version: string; serverUrl?: string }): OpenApiDocument {
  const schemas = new SchemaPrinter(shapes);
  const errors = new ErrorPrinter(schemas);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of ROUTES as readonly Route[]) {
    const path = `${API_PREFIX}/${route.path}${route.verb === undefined ? '' : `:${route.verb}`}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: printOperation(route, schemas, errors) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Measurement Exchange',
      version: options.version,
      description: INFO,
      contact: { name: 'The operator of this exchange' },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl ?? '/' }],
    security: [{ idToken: [] }],
    tags: TAGS,
    paths,
    components: {
      schemas: sorted(schemas.components),
      responses: sorted(errors.components),
      headers: HEADERS,
      securitySchemes: {
        idToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: AUTHENTICATION },
      },
    },
  };
}

function sorted<T>(components: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
}
