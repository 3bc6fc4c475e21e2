/**
 * Determines the errors of each operation. The route lists some errors, and the others follow from its path, schemas,
 * and other properties.
 */

import { type Code, httpStatusOf, REASONS, type Reason } from '../errors/reasons.ts';
import type { Keywords } from '../json/codec.ts';
import type { TSchema } from '../json/schema.ts';
import type { OperationError, Route } from '../routes/route.ts';
import { querySchemaOf, takesRequestId } from './request.ts';

export interface RouteError {
  reason: Reason;
  code: Code;
  httpStatus: number;
}

const RULES: [applies: (route: Route) => boolean, reasons: Reason[]][] = [
  [
    () => true,
    [
      // Errors in the connection or in HTTP itself.
      'MALFORMED_REQUEST',
      'REQUEST_TIMEOUT',
      'URI_TOO_LONG',
      'HEADERS_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      // Errors that concern the caller.
      'TOKEN_INVALID',
      'PRINCIPAL_UNKNOWN',
      'PRINCIPAL_SUSPENDED',
      'RATE_LIMITED',
      // Every operation rejects unknown query parameters.
      'INVALID_FIELD_VALUE',
      // Errors that concern the service.
      'INTERNAL',
      'UNAVAILABLE',
      'KEYS_UNAVAILABLE',
      'DEADLINE_EXCEEDED',
    ],
  ],
  // An operation can deny permission to a kind of caller that has no access. If the operation's path has an ID, the
  // operation can also deny permission for another caller's ID, or for a wildcard. All other operations, such as
  // whoAmI, never deny permission.
  [({ access, path }) => Object.keys(access).length < 4 || path.includes('{'), ['PERMISSION_DENIED']],
  [({ path }) => path.includes('{'), ['MALFORMED_NAME']],
  [({ method }) => method !== 'GET', ['MALFORMED_JSON', 'BODY_TOO_LARGE']],
  [
    (route) => [querySchemaOf(route), route.body?.schema].some((schema) => schema && requiresFields(schema)),
    ['REQUIRED_FIELD_NOT_SET'],
  ],
  [
    (route) => Object.hasOwn((querySchemaOf(route) as Keywords).properties!, 'pageToken'),
    ['INVALID_PAGE_TOKEN'],
  ],
  [takesRequestId, ['REQUEST_ID_REUSED']],
];

/** Returns all errors of a route: those that follow from its properties, and those that it lists. */
export function errorsOf(route: Route): RouteError[] {
  const derived = RULES.filter(([applies]) => applies(route)).flatMap(([, reasons]) => reasons);
  return [...derived, ...route.errors].map(errorOf);
}

function errorOf(error: OperationError): RouteError {
  const { reason, code } = typeof error === 'string' ? { reason: error, code: REASONS[error].code } : error;
  return { reason, code, httpStatus: httpStatusOf(reason, code) };
}

function requiresFields(schema: TSchema): boolean {
  const { required = [], properties = {}, items, additionalProperties } = schema as Keywords;
  const inner = [...Object.values(properties), items, additionalProperties];
  return required.length > 0 || inner.some((one) => one && requiresFields(one));
}
