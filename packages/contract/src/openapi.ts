/** The routes table as OpenAPI 3.1: for code generators, for viewers, and for the page under /docs. */
import * as certificate from './codecs/certificate.ts';
import * as common from './codecs/common.ts';
import * as descriptor from './codecs/descriptor.ts';
import * as eventGroup from './codecs/eventGroup.ts';
import * as measurement from './codecs/measurement.ts';
import * as party from './codecs/party.ts';
import * as principal from './codecs/principal.ts';
import * as requisition from './codecs/requisition.ts';
import * as timeline from './codecs/timeline.ts';
import * as trustedRoot from './codecs/trustedRoot.ts';
import { ERROR_DOMAIN, HTTP_STATUS, REASONS } from './errors.ts';
import { exampleId, ID_PATTERN, SchemaPrinter } from './openapi/schemaPrinter.ts';
import type {
  JsonContent,
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi/types.ts';
import { querySchemaOf, takesRequestId } from './request.ts';
import { API_PREFIX, type Body, type PrincipalKind, ROUTES, type Route, type Routes } from './routes.ts';
import type { TSchema } from './schema.ts';

export type * from './openapi/types.ts';

export interface OpenApiOptions {
  version: string;
  serverUrl?: string;
}

/** The collection a path ends in; a row with a new one does not compile until it is described here. */
type CollectionOf<Path extends string> = Path extends `${string}/{${string}}/${infer Rest}`
  ? CollectionOf<Rest>
  : Path extends `${infer Collection}/{${string}}`
    ? Collection
    : Path;

const TAGS: Record<CollectionOf<Routes['path']>, { name: string; description: string }> = {
  measurements: {
    name: 'Measurements',
    description: 'What a measurement consumer asks of one or more data providers, and the encrypted results.',
  },
  requisitions: {
    name: 'Requisitions',
    description: 'The part of a measurement that one data provider fulfils or refuses.',
  },
  eventGroupMetadataDescriptors: {
    name: 'Event group metadata descriptors',
    description: 'Protobuf schemas in which data providers describe the metadata of their event groups.',
  },
  certificates: {
    name: 'Certificates',
    description: 'X.509 certificates with which the parties check each other’s signatures.',
  },
  eventGroups: {
    name: 'Event groups',
    description: 'Groups of events that a data provider describes to a measurement consumer.',
  },
  measurementConsumers: { name: 'Measurement consumers', description: 'Parties that ask for measurements.' },
  dataProviders: { name: 'Data providers', description: 'Parties that hold event data.' },
  duchies: { name: 'Duchies', description: 'Parties that compute across data providers.' },
  principals: {
    name: 'Principals',
    description: 'Which subject of which token issuer speaks for which party, or for the operator.',
  },
  trustedRoots: {
    name: 'Trusted roots',
    description: 'Root certificates against which the exchange checks those of the parties.',
  },
  auditEntries: { name: 'Audit', description: 'Every mutation outside the transition log.' },
  whoami: { name: 'Caller', description: 'Who the exchange takes the caller for.' },
};

const INFO = `Advertisers and publishers measure together without showing each other their data.

Bytes are base64 (URL-safe and unpadded are read too), times are RFC 3339 in UTC, fields are lowerCamelCase
(snake_case is read too). Unknown fields and parameters are refused. Every answer carries \`x-request-id\`.`;

const AUTHENTICATION =
  'The token is an OpenID Connect ID token from an issuer that the exchange trusts. Its issuer and subject are ' +
  'bound to one principal: a measurement consumer, a data provider, a duchy, or the operator.';

const QUERY: Record<string, string> = {
  requestId:
    'Makes a retry safe: the same ID with the same content answers the resource that exists already. ' +
    'May stand in the body instead.',
  validateOnly:
    'Runs all checks, writes nothing and does not use the requestId up. The answer is the resource as it would ' +
    'be, with its findings.',
  pageToken: 'The nextPageToken of the page before.',
  names: 'The names to read; repeat the parameter.',
  'filter.measurementConsumers': 'Only those of these measurement consumers; repeat the parameter.',
  'filter.dataProviders': 'Only those of these data providers; repeat the parameter.',
  'filter.mediaTypes': 'Only those with any of these media types; repeat the parameter.',
  'filter.dataAvailabilityStartTimeOnOrAfter': 'Only those whose data begins then or later.',
  'filter.dataAvailabilityStartTimeOnOrBefore': 'Only those whose data begins then or earlier.',
  'filter.dataAvailabilityEndTimeOnOrAfter':
    'Only those whose data ends then or later; an open end is later.',
  'filter.dataAvailabilityEndTimeOnOrBefore': 'Only those whose data ends then or earlier.',
  'filter.metadataSearchQuery': 'Only those whose brand or campaign name holds every word.',
  'filter.subjectKeyIdentifiers': 'Only those with any of these key identifiers; repeat the parameter.',
  'filter.resource': 'Only those bound to this party, or to `operator`.',
  'filter.name': 'Only those about this resource.',
  showDeleted: 'Whether deleted ones are listed too.',
  orderBy: 'By the begin of their data instead of by creation.',
  descriptorSetEncoding:
    'How the answer holds descriptorSet: proto3 JSON (default) or the exact bytes in base64.',
  'filter.states': 'Only those in one of these states; repeat the parameter.',
  'filter.updatedAfter': 'Only those updated after this moment, exclusive.',
  'filter.updatedBefore': 'Only those updated before this moment, exclusive.',
  'filter.createdAfter': 'Only those created after this moment, exclusive.',
  'filter.createdBefore': 'Only those created before this moment, exclusive.',
};

const CALLERS: Record<PrincipalKind, string> = {
  measurementConsumer: 'measurement consumers',
  dataProvider: 'data providers',
  duchy: 'duchies',
  operator: 'operators',
};
const ACCESS = { own: ' (only under their own name)', any: '', all: ' (also across all parents, with `-`)' };

export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const printer = new SchemaPrinter(namedSchemas());
  const paths: OpenApiDocument['paths'] = {};
  for (const route of ROUTES as readonly Route[]) {
    const path = `${API_PREFIX}/${route.path}${route.verb === undefined ? '' : `:${route.verb}`}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, printer) };
  }
  const status = addErrorSchemas(printer);
  const schemas = Object.entries(printer.components).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Measurement Exchange',
      version: options.version,
      description: INFO,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl ?? '/' }],
    security: [{ idToken: [] }],
    tags: Object.values(TAGS),
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      responses: { Error: response('Refused or failed: `reason` says why.', status) },
      headers: {
        RequestId: {
          description: 'Names the request in the logs of the exchange.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: {
        idToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: AUTHENTICATION },
      },
    },
  };
}

/** Every object that a codec file exports goes by the name of its export. */
function namedSchemas(): Record<string, TSchema> {
  const exported = {
    ...certificate,
    ...common,
    ...descriptor,
    ...eventGroup,
    ...measurement,
    ...party,
    ...principal,
    ...requisition,
    ...timeline,
    ...trustedRoot,
  };
  return Object.fromEntries(
    Object.entries(exported).filter(([, value]) => 'properties' in Object(value)),
  ) as Record<string, TSchema>;
}

function operationOf(route: Route, printer: SchemaPrinter): OpenApiOperation {
  const callers = Object.entries(route.access).map(
    ([kind, rule]) => CALLERS[kind as PrincipalKind] + ACCESS[rule],
  );
  // Rows of one operation share their shapes, unless they are about different resources.
  const shared = rowsOf(route).every((row) => row.response === route.response);
  const name = pascalCase(shared ? route.operation : operationIdOf(route));
  return {
    operationId: operationIdOf(route),
    tags: [TAGS[collectionOf(route) as keyof typeof TAGS].name],
    summary: route.summary,
    description: `Callers: ${callers.join(', ')}.`,
    parameters: [...pathParameters(route), ...queryParameters(route, printer)],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body, name, printer) }),
    responses: {
      200: response('OK', printer.reference(route.response, `${name}Response`)),
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function collectionOf({ path }: Route): string {
  return path
    .split('/')
    .filter((_, i) => i % 2 === 0)
    .at(-1)!;
}

/** The operation; where it has several rows, with whose it is (other paths) or the method (the same path). */
function operationIdOf(route: Route): string {
  const rows = rowsOf(route);
  const samePath = rows.filter((row) => row.path === route.path);
  const owner = /\{(\w+)\}/.exec(route.path)?.[1] ?? route.path;
  const party = samePath.length === rows.length ? '' : `Of${pascalCase(owner)}`;
  const method = route === samePath[0] ? '' : `By${pascalCase(route.method.toLowerCase())}`;
  return route.operation + party + method;
}

function rowsOf(route: Route): Route[] {
  return (ROUTES as readonly Route[]).filter((row) => row.operation === route.operation);
}

function pathParameters(route: Route): OpenApiParameter[] {
  const variables = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const wildcard = Object.values(route.access).includes('all');
  return variables.map((name, i) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const alias = name === 'certificate' ? ', or `preferred`' : wildcard && i === 0 ? ', or `-` for all' : '';
    return {
      name,
      in: 'path',
      required: true,
      description: `The ID of the ${words}${alias}.`,
      schema: { type: 'string', pattern: `^${ID_PATTERN}$`, examples: [exampleId(name)] },
    };
  });
}

function queryParameters(route: Route, printer: SchemaPrinter): OpenApiParameter[] {
  const { properties = {}, required = [] } = printer.inline(querySchemaOf(route));
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: QUERY[name] ?? description ?? '',
    ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
    schema,
  }));
}

function requestBody(
  route: Route,
  body: Body,
  name: string,
  printer: SchemaPrinter,
): OpenApiOperation['requestBody'] {
  const message = printer.inline(body.schema);
  const repeat = (what: string): JsonSchema => ({
    type: 'string',
    description: `May repeat the ${what} of the path.`,
  });
  const json = (schema: JsonSchema): JsonContent => ({ 'application/json': { schema } });
  if (body.form === 'message') {
    const properties = { ...message.properties, [body.also]: repeat(body.also) };
    return {
      description: `The request message; \`${body.also}\` may be left out.`,
      required: message.required !== undefined,
      content: json(printer.add(`${name}Request`, { ...message, properties })),
    };
  }

  const requestId: JsonSchema = {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: QUERY.requestId!,
  };
  const beside: Record<string, JsonSchema> = {
    ...(body.create ? { parent: repeat('parent') } : {}),
    ...(takesRequestId(route) ? { requestId } : {}),
  };
  // A caller may send back what it read: output-only fields are accepted.
  const outputOnly = Object.entries(printer.inline(body.resource).properties!)
    .filter(([field]) => !(field in message.properties!))
    .map(([field, schema]) => [field, { ...schema, readOnly: true }]);
  const resource = { ...message, properties: { ...message.properties, ...Object.fromEntries(outputOnly) } };
  const wrapped: JsonSchema = {
    type: 'object',
    required: [body.member],
    properties: { [body.member]: printer.add(`${pascalCase(body.member)}Input`, resource), ...beside },
    additionalProperties: false,
  };
  return {
    description:
      `The resource itself, or wrapped as \`${body.member}\`. Output-only fields are accepted and ignored` +
      (body.create ? '.' : '; `name`, if given, must be that of the path.'),
    required: true,
    content: json({
      oneOf: [
        { title: 'The resource', ...resource, properties: { ...resource.properties, ...beside } },
        { title: 'The request message', ...printer.add(`${name}Request`, wrapped) },
      ],
    }),
  };
}

function response(description: string, schema: JsonSchema): OpenApiResponse {
  return {
    description,
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    content: { 'application/json': { schema } },
  };
}

/** The body of every error, as ExchangeError prints it. */
function addErrorSchemas(printer: SchemaPrinter): JsonSchema {
  const text: JsonSchema = { type: 'string' };
  const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
  });
  const detail = (name: string, properties: Record<string, JsonSchema>): JsonSchema =>
    printer.add(
      name,
      object({ '@type': { const: `type.googleapis.com/google.rpc.${name}` }, ...properties }),
    );

  const details = [
    detail('ErrorInfo', {
      reason: { type: 'string', enum: Object.keys(REASONS) },
      domain: { const: ERROR_DOMAIN },
      metadata: { type: 'object', additionalProperties: text },
    }),
    detail('BadRequest', {
      fieldViolations: { type: 'array', items: object({ field: text, description: text }) },
    }),
    detail('RetryInfo', { retryDelay: { type: 'string', pattern: '^[0-9]+s$', examples: ['2s'] } }),
  ];
  const error = object({
    code: { type: 'integer', description: 'The HTTP status.' },
    status: { type: 'string', enum: Object.keys(HTTP_STATUS) },
    message: text,
    details: { type: 'array', items: { oneOf: details } },
  });
  return printer.add('Status', { ...object({ error }), description: 'google.rpc.Status in JSON.' });
}

function pascalCase(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1);
}
