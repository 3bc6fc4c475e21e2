import { querySchemaOf } from '../requests/request.ts';
import type { PrincipalKind, Route } from '../routes/route.ts';
import { ROUTES } from '../routes.ts';
import { wordsOf } from '../values/names.ts';
import type { ErrorPrinter } from './errors.ts';
import { printRequestBody } from './requestBody.ts';
import { printResponse, printStream } from './response.ts';
import { exampleId, ID_PATTERN, pascalCase, type SchemaPrinter } from './schemaPrinter.ts';
import { tagOf } from './tags.ts';
import type { OpenApiOperation, OpenApiParameter } from './types.ts';

const CALLERS: Record<PrincipalKind, string> = {
  measurementConsumer: 'measurement consumers',
  dataProvider: 'data providers',
  duchy: 'duchies',
  operator: 'operators',
};
const ACCESS = { own: ' (only under their own name)', any: '', all: ' (also across all parents, with `-`)' };

export function printOperation(route: Route, schemas: SchemaPrinter, errors: ErrorPrinter): OpenApiOperation {
  const callers = Object.entries(route.access).map(
    ([kind, rule]) => CALLERS[kind as PrincipalKind] + ACCESS[rule],
  );
  // If all routes of an operation return the same resource, they share one schema name. Otherwise, each route has its
  // own.
  const shared = rowsOf(route).every((row) => row.response === route.response);
  const name = pascalCase(shared ? route.operation : operationIdOf(route));
  const response = schemas.reference(route.response, `${name}Response`);
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: `Callers: ${callers.join(', ')}.`,
    parameters: [...pathParameters(route), ...queryParameters(route, schemas)],
    ...(route.body === undefined ? {} : { requestBody: printRequestBody(route, name, schemas) }),
    responses: {
      200: route.streams
        ? printStream('Events without an end; the ID of each is a token.', response)
        : printResponse('OK', response),
      ...errors.responsesOf(route),
    },
  };
}

/**
 * Returns a unique ID for the route: the operation's name. If the operation has several paths, a suffix names the party
 * in the path (`OfDuchy`). If a path has several methods, all but the first route have a suffix with the method
 * (`ByPut`).
 */
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
    const alias = name === 'certificate' ? ', or `preferred`' : wildcard && i === 0 ? ', or `-` for all' : '';
    return {
      name,
      in: 'path',
      required: true,
      description: `The ID of the ${wordsOf(name)}${alias}.`,
      schema: { type: 'string', pattern: `^${ID_PATTERN}$`, examples: [exampleId(name)] },
    };
  });
}

function queryParameters(route: Route, schemas: SchemaPrinter): OpenApiParameter[] {
  const { properties = {}, required = [] } = schemas.inline(querySchemaOf(route));
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
    schema,
  }));
}
