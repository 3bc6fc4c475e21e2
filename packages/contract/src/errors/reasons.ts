/** The closed list of reasons that a request can fail for. */

/** The google.rpc codes of errors, and the HTTP status of each. */
export const HTTP_STATUS = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
} as const;

export type Code = keyof typeof HTTP_STATUS;

interface ReasonRow {
  code: Code;
  http?: number;
  meaning: string;
}

/** Makes rows with one code; `http` is given where HTTP has a status of its own for the error. */
function rowsWith(code: Code) {
  return (meaning: string, http?: number): ReasonRow => ({ code, meaning, ...(http && { http }) });
}
const invalidArgument = rowsWith('INVALID_ARGUMENT');
const failedPrecondition = rowsWith('FAILED_PRECONDITION');
const unauthenticated = rowsWith('UNAUTHENTICATED');
const permissionDenied = rowsWith('PERMISSION_DENIED');
const notFound = rowsWith('NOT_FOUND');
const aborted = rowsWith('ABORTED');
const alreadyExists = rowsWith('ALREADY_EXISTS');
const resourceExhausted = rowsWith('RESOURCE_EXHAUSTED');
const internal = rowsWith('INTERNAL');
const unimplemented = rowsWith('UNIMPLEMENTED');
const unavailable = rowsWith('UNAVAILABLE');
const deadlineExceeded = rowsWith('DEADLINE_EXCEEDED');

/** Every reason there is; docs/errors.md is printed from this list. */
export const REASONS = {
  // The request as such.
  INVALID_FIELD_VALUE: invalidArgument(
    'A field is malformed, unknown or out of range; fieldViolations names each one.',
  ),
  REQUIRED_FIELD_NOT_SET: invalidArgument('A required field is missing; fieldViolations names each one.'),
  MALFORMED_JSON: invalidArgument(
    'The body is not JSON, or holds duplicate keys, NUL, broken Unicode, too much nesting or too many values.',
  ),
  MALFORMED_REQUEST: invalidArgument(
    'The request is not well-formed HTTP, or carries a header twice that may come once.',
  ),
  MALFORMED_NAME: invalidArgument('A resource name does not match its pattern.'),
  INVALID_PAGE_TOKEN: invalidArgument(
    'The page token was altered, or belongs to another list, parent or filter.',
  ),
  CHANGE_TOKEN_EXPIRED: failedPrecondition(
    'The log of changes no longer reaches back to the token: take a fresh one, list the resources, continue from that token.',
  ),
  CHECK_FAILED: invalidArgument(
    'Under strict checks a finding rejects the request; fieldViolations names each one.',
  ),
  NONCE_MISMATCH: invalidArgument('The nonce does not hash to the nonceHash of the requisition.'),
  ROUTE_NOT_FOUND: notFound('No operation has this path.'),
  METHOD_NOT_ALLOWED: unimplemented('The path exists with other methods; see the Allow header.', 405),
  REQUEST_TIMEOUT: deadlineExceeded('The request was not received in time.', 408),
  BODY_TOO_LARGE: invalidArgument('The body is above the size limit.', 413),
  URI_TOO_LONG: invalidArgument('The URL is above the size limit.', 414),
  UNSUPPORTED_MEDIA_TYPE: invalidArgument(
    'A request body must be application/json, in UTF-8, not compressed.',
    415,
  ),
  HEADERS_TOO_LARGE: invalidArgument('The request headers are above the size limit.', 431),
  // The caller.
  TOKEN_INVALID: unauthenticated(
    'The bearer ID token is missing or not acceptable; the log line of the request says why.',
  ),
  PRINCIPAL_UNKNOWN: permissionDenied(
    'The token is good, but its subject is bound to no principal of this exchange.',
  ),
  PRINCIPAL_SUSPENDED: permissionDenied('The party of this token is suspended.'),
  PERMISSION_DENIED: permissionDenied(
    'This principal may not do this here, whether or not the resource exists.',
  ),
  RATE_LIMITED: resourceExhausted(
    'Too many requests from this principal or subject, too much descriptor work of it, or too many bad tokens from this address.',
  ),
  TOO_MANY_OPEN_MEASUREMENTS: resourceExhausted(
    'The consumer has as many measurements that are not complete as the operator allows: wait for some of them, or cancel some.',
  ),
  DEFERRED_TOO_OFTEN: resourceExhausted(
    'The requisition was deferred more than 10 times, and the last time was less than a minute ago.',
  ),
  TOO_MANY_DELIVERIES: resourceExhausted(
    'More than 1,000 changes would be delivered again within an hour to the webhooks of the party, or 10 tests of the webhook are not sent yet.',
  ),
  RESPONSE_TOO_LARGE: resourceExhausted('The response would be above 64 MiB: ask for fewer names.'),
  DESCRIPTOR_TOO_COSTLY: resourceExhausted(
    'Reading the descriptor sets or messages takes too much time or memory: use smaller or simpler ones. ' +
      'A retry will not help.',
  ),
  // Resources.
  MEASUREMENT_CONSUMER_NOT_FOUND: notFound(
    'No such measurement consumer (FAILED_PRECONDITION when an event group refers to it).',
  ),
  DATA_PROVIDER_NOT_FOUND: notFound('No such data provider.'),
  DUCHY_NOT_FOUND: notFound('No such duchy.'),
  DATA_PROVIDER_SUSPENDED: failedPrecondition(
    'A data provider of the request is suspended and takes no new requisitions.',
  ),
  MEASUREMENT_NOT_FOUND: notFound('No such measurement.'),
  MEASUREMENT_STATE_ILLEGAL: failedPrecondition('The measurement is in a state that does not allow this.'),
  REQUISITION_NOT_FOUND: notFound('No such requisition.'),
  REQUISITION_STATE_ILLEGAL: failedPrecondition('The requisition is in a state that does not allow this.'),
  REQUISITION_ETAG_MISMATCH: aborted(
    'The requisition changed since it was read: read it again and retry with its etag.',
  ),
  PROTOCOL_NOT_DIRECT: failedPrecondition('The protocol of this measurement takes no direct result.'),
  POPULATION_NOT_FOUND: notFound('No such population.'),
  POPULATION_ALREADY_EXISTS: alreadyExists('A population with this ID exists already.'),
  MODEL_LINE_TAKEN: alreadyExists('A model line belongs to another population: take it from that one first.'),
  COMPUTATION_NOT_FOUND: notFound('No such computation, or the duchy does not take part in it.'),
  COMPUTATION_STATE_ILLEGAL: failedPrecondition(
    'The computation is in a state, or the duchy in a role, that does not allow this.',
  ),
  COMPUTATION_ETAG_MISMATCH: aborted(
    'The computation changed since it was read: read it again and retry with its etag.',
  ),
  UPLOAD_MISMATCH: failedPrecondition(
    'What was sent to a duchy is not what its signature, its digest or the computation say.',
  ),
  UPLOAD_ALREADY_EXISTS: alreadyExists(
    'The duchy has stored other data for this requisition or this stage already.',
  ),
  STAGE_OUT_OF_ORDER: aborted('The duchy is not at the stage that this message is for: retry later.'),
  CERTIFICATE_NOT_FOUND: notFound('No such certificate (FAILED_PRECONDITION when a request refers to it).'),
  CERTIFICATE_IS_INVALID: failedPrecondition(
    'The certificate is revoked, on hold, or outside its validity period.',
  ),
  EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND: notFound(
    'No such descriptor (FAILED_PRECONDITION when an event group refers to it).',
  ),
  EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE: alreadyExists(
    'Another descriptor of this provider already defines the message type (strict checks).',
  ),
  SCHEMA_CHANGE_BREAKING: failedPrecondition(
    'The update would break readers of the schema (strict checks): create a new descriptor instead.',
  ),
  EVENT_GROUP_NOT_FOUND: notFound('No such event group, or it is deleted.'),
  EVENT_GROUP_INVALID_ARGS: invalidArgument('The measurement consumer of an event group cannot change.'),
  METADATA_NOT_READABLE: failedPrecondition(
    'The event group has no readable metadata: it was given no metadata, or it is encrypted, or its descriptor no longer explains it.',
  ),
  PARTY_ALREADY_EXISTS: alreadyExists('A party with this ID exists already.'),
  PRINCIPAL_NOT_FOUND: notFound('No such binding.'),
  PRINCIPAL_ALREADY_EXISTS: alreadyExists(
    'This subject of this issuer is bound already; metadata.existing names the binding.',
  ),
  TRUSTED_ROOT_NOT_FOUND: notFound('No such trusted root.'),
  TRUSTED_ROOT_ALREADY_EXISTS: alreadyExists('This root is trusted already.'),
  CERTIFICATE_ALREADY_EXISTS: alreadyExists(
    'The party has registered this certificate already; metadata.existing names it.',
  ),
  CERTIFICATE_REVOCATION_STATE_ILLEGAL: failedPrecondition(
    'REVOKED is final, and only a certificate on HOLD can be released.',
  ),
  WEBHOOK_NOT_FOUND: notFound('No such webhook.'),
  PROTOCOL_NOT_ALLOWED: failedPrecondition(
    'The protocol that the measurement asks for has an aggregator that belongs to one of its data providers: ask for another protocol, or for none.',
  ),
  TOO_MANY_WEBHOOKS: failedPrecondition(
    'The party has as many webhooks as one may have: update or delete one.',
  ),
  REQUEST_ID_REUSED: alreadyExists(
    'This requestId already created a resource with other content; metadata.existing names it.',
  ),
  // The service.
  INTERNAL: internal('A defect of the exchange; report the request ID.'),
  UNAVAILABLE: unavailable('The exchange or something it needs is out of reach for now: retry.'),
  KEYS_UNAVAILABLE: unavailable('The keys of the token issuer cannot be fetched for now: retry.'),
  DEADLINE_EXCEEDED: deadlineExceeded(
    'The request took too long; read the resource to learn whether it took effect.',
  ),
} satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof REASONS;
/** A reason in a response: an exchange newer than this table may give others. */
export type AnyReason = Reason | (string & Record<never, never>);

/** The HTTP status of an error with this reason and code. */
export function httpStatusOf(reason: AnyReason, code: Code): number {
  const row: ReasonRow | undefined = Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : undefined;
  return row?.http ?? HTTP_STATUS[code];
}
