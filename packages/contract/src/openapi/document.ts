/** The routes table as OpenAPI 3.1: for code generators, for viewers, and for the page under /docs. */
import * as certificate from '../codecs/certificate.ts';
import * as common from '../codecs/common.ts';
import * as computation from '../codecs/computation.ts';
import * as descriptor from '../codecs/descriptor.ts';
import * as eventGroup from '../codecs/eventGroup.ts';
import * as measurement from '../codecs/measurement.ts';
import * as party from '../codecs/party.ts';
import * as population from '../codecs/population.ts';
import * as principal from '../codecs/principal.ts';
import * as requisition from '../codecs/requisition.ts';
import * as timeline from '../codecs/timeline.ts';
import * as trustedRoot from '../codecs/trustedRoot.ts';
import * as webhook from '../codecs/webhook.ts';
import type { TSchema } from '../json/schema.ts';
import * as protocolConfig from '../protocols/protocolConfig.ts';
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
  const schemas = new SchemaPrinter(namedSchemas());
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
    tags: Object.values(TAGS),
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

/** Every object that a codec file exports goes by the name of its export. */
function namedSchemas(): Record<string, TSchema> {
  const exported = {
    ...certificate,
    ...common,
    ...computation,
    ...descriptor,
    ...eventGroup,
    ...measurement,
    ...party,
    ...population,
    ...principal,
    ...protocolConfig,
    ...requisition,
    ...timeline,
    ...trustedRoot,
    ...webhook,
  };
  return Object.fromEntries(
    Object.entries(exported).filter(([, value]) => 'properties' in Object(value)),
  ) as Record<string, TSchema>;
}
