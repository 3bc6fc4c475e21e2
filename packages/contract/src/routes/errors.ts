/** Which errors an operation can fail with: those of its row, and those that follow from what the row says. */
import type { Keywords } from '../codec.ts';
import { type Code, httpStatusOf, REASONS, type Reason } from '../reasons.ts';
import { querySchemaOf, takesRequestId } from '../request.ts';
import { ROUTES } from '../routes.ts';
import type { TSchema } from '../schema.ts';
import type { OperationError, Route } from './route.ts';

export interface RouteError {
  reason: Reason;
  code: Code;
  httpStatus: number;
}

/** Reasons that follow from a row, and in words which rows those are. */
const RULES: { rows: string; match: (route: Route) => boolean; reasons: Reason[] }[] = [
  {
    rows: 'every operation',
    match: () => true,
    reasons: [
      // The connection and the request as HTTP.
      'MALFORMED_REQUEST',
      'REQUEST_TIMEOUT',
      'URI_TOO_LONG',
      'HEADERS_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      // The caller.
      'TOKEN_INVALID',
      'PRINCIPAL_UNKNOWN',
      'PRINCIPAL_SUSPENDED',
      'RATE_LIMITED',
      // An unknown query parameter is enough.
      'INVALID_FIELD_VALUE',
      // The service.
      'INTERNAL',
      'UNAVAILABLE',
      'KEYS_UNAVAILABLE',
      'DEADLINE_EXCEEDED',
    ],
  },
  {
    rows: 'every operation but `whoAmI`',
    // Nobody may use the wildcard as an ID, unless the row says so.
    match: ({ access, path }) => Object.keys(access).length < 4 || path.includes('{'),
    reasons: ['PERMISSION_DENIED'],
  },
  {
    rows: 'every operation with an ID in its path',
    match: ({ path }) => path.includes('{'),
    reasons: ['MALFORMED_NAME'],
  },
  {
    rows: 'every operation but those with GET',
    match: ({ method }) => method !== 'GET',
    reasons: ['MALFORMED_JSON', 'BODY_TOO_LARGE'],
  },
  {
    rows: 'every operation with a required field',
    match: (route) =>
      requiresFields(querySchemaOf(route)) || (route.body !== undefined && requiresFields(route.body.schema)),
    reasons: ['REQUIRED_FIELD_NOT_SET'],
  },
  {
    rows: 'every list',
    match: (route) => Object.hasOwn((querySchemaOf(route) as Keywords).properties!, 'pageToken'),
    reasons: ['INVALID_PAGE_TOKEN'],
  },
  {
    rows: 'every create with a `requestId`',
    match: takesRequestId,
    reasons: ['REQUEST_ID_REUSED'],
  },
];

/** Everything that a request to this route can fail with, each once. */
export function errorsOf(route: Route): RouteError[] {
  const derived = RULES.filter(({ match }) => match(route)).flatMap(({ reasons }) => reasons);
  return [...derived, ...route.errors].map(errorOf);
}

function errorOf(error: OperationError): RouteError {
  const { reason, code } = typeof error === 'string' ? { reason: error, code: REASONS[error].code } : error;
  return { reason, code, httpStatus: httpStatusOf(reason, code) };
}

/** Where a reason comes from, in words: which operations can fail with it. */
export function sourcesOf(reason: Reason): string[] {
  const rules = RULES.filter(({ reasons }) => reasons.includes(reason)).map(({ rows }) => rows);
  const named = (ROUTES as readonly Route[])
    .filter(({ errors }) => errors.some((error) => errorOf(error).reason === reason))
    .map(({ operation }) => `\`${operation}\``);
  return [...rules, ...new Set(named)];
}

/** Whether a value of this schema can lack a field that it needs. */
function requiresFields(schema: TSchema): boolean {
  const { required = [], properties = {}, items, additionalProperties } = schema as Keywords;
  const inner = [...Object.values(properties), items, additionalProperties];
  return required.length > 0 || inner.some((one) => one && requiresFields(one));
}
