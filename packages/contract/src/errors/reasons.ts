/** The complete list of reasons why a request can fail. */

/** The google.rpc error codes, and the HTTP status of each. */
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

/** The meaning of each reason, grouped by the reason's usual code. docs/errors.md is generated from this list. */
const MEANINGS = {
  INVALID_ARGUMENT: {
    INVALID_FIELD_VALUE: 'A field is malformed, unknown or out of range; fieldViolations names each one.',
    REQUIRED_FIELD_NOT_SET: 'A required field is missing; fieldViolations names each one.',
    MALFORMED_JSON:
      'The body is not JSON, or holds duplicate keys, NUL, broken Unicode, too much nesting or too many values.',
    MALFORMED_REQUEST: 'The request is not well-formed HTTP, or repeats a header that is allowed once.',
    MALFORMED_NAME: 'A resource name does not match its pattern.',
    INVALID_PAGE_TOKEN: 'The page token was altered, or belongs to another list, parent or filter.',
    CHECK_FAILED: 'Under strict checks a finding rejects the request; fieldViolations names each one.',
    NONCE_MISMATCH: 'The nonce does not hash to the nonceHash of the requisition.',
    BODY_TOO_LARGE: 'The body is above the size limit.',
    URI_TOO_LONG: 'The URL is above the size limit.',
    UNSUPPORTED_MEDIA_TYPE: 'A request body must be application/json, in UTF-8, not compressed.',
    HEADERS_TOO_LARGE: 'The request headers are above the size limit.',
    EVENT_GROUP_INVALID_ARGS: 'The measurement consumer of an event group cannot change.',
  },
  FAILED_PRECONDITION: {
    CHANGE_TOKEN_EXPIRED:
      'The log of changes no longer reaches back to the token: take a fresh one, list the resources, continue from that token.',
    DATA_PROVIDER_SUSPENDED: 'A data provider of the request is suspended and takes no new requisitions.',
    MEASUREMENT_STATE_ILLEGAL: 'The measurement is in a state that does not allow this.',
    REQUISITION_STATE_ILLEGAL: 'The requisition is in a state that does not allow this.',
    SPEC_NOT_PROTOBUF: 'The measurementSpec is JSON, which clients of gRPC cannot read: read it by REST.',
    PROTOCOL_NOT_DIRECT: 'The protocol of this measurement takes no direct result.',
    COMPUTATION_STATE_ILLEGAL:
      'The computation is in a state, or the duchy in a role, that does not allow this.',
    UPLOAD_MISMATCH: 'What was sent to a duchy is not what its signature, its digest or the computation say.',
    CERTIFICATE_IS_INVALID: 'The certificate is revoked, on hold, or outside its validity period.',
    SCHEMA_CHANGE_BREAKING:
      'The update would break readers of the schema (strict checks): create a new descriptor instead.',
    METADATA_NOT_READABLE:
      'The event group has no readable metadata: it was given no metadata, or it is encrypted, or its descriptor no longer explains it.',
    CERTIFICATE_REVOCATION_STATE_ILLEGAL: 'REVOKED is final, and only a certificate on HOLD can be released.',
    PROTOCOL_NOT_ALLOWED:
      'The protocol that the measurement asks for has an aggregator that belongs to one of its data providers: ask for another protocol, or for none.',
    TOO_MANY_REPORTS: 'The measurement consumer has as many reports as one may have: delete some.',
    TOO_MANY_API_KEYS:
      'The measurement consumer has as many API keys as one may have, expired ones included: delete some.',
    TOO_MANY_WEBHOOKS: 'The party has as many webhooks as one may have: update or delete one.',
  },
  UNAUTHENTICATED: {
    TOKEN_INVALID: 'The credentials are missing or not acceptable; the log line of the request says why.',
  },
  PERMISSION_DENIED: {
    PRINCIPAL_UNKNOWN: 'The credentials are good, but belong to no principal of this exchange.',
    PRINCIPAL_SUSPENDED: 'The party of this token is suspended.',
    PERMISSION_DENIED: 'This principal may not do this here, whether or not the resource exists.',
  },
  NOT_FOUND: {
    ROUTE_NOT_FOUND: 'No operation has this path.',
    MEASUREMENT_CONSUMER_NOT_FOUND:
      'No such measurement consumer (FAILED_PRECONDITION when an event group refers to it).',
    DATA_PROVIDER_NOT_FOUND: 'No such data provider.',
    DUCHY_NOT_FOUND: 'No such duchy.',
    MEASUREMENT_NOT_FOUND: 'No such measurement (FAILED_PRECONDITION when a report refers to it).',
    REPORT_NOT_FOUND: 'No such report.',
    REQUISITION_NOT_FOUND: 'No such requisition.',
    POPULATION_NOT_FOUND: 'No such population.',
    COMPUTATION_NOT_FOUND: 'No such computation, or the duchy does not take part in it.',
    CERTIFICATE_NOT_FOUND: 'No such certificate (FAILED_PRECONDITION when a request refers to it).',
    EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND:
      'No such descriptor (FAILED_PRECONDITION when an event group refers to it).',
    EVENT_GROUP_NOT_FOUND: 'No such event group, or it is deleted.',
    PRINCIPAL_NOT_FOUND: 'No such binding.',
    TRUSTED_ROOT_NOT_FOUND: 'No such trusted root.',
    WEBHOOK_NOT_FOUND: 'No such webhook.',
    API_KEY_NOT_FOUND: 'No such API key.',
  },
  ABORTED: {
    REQUISITION_ETAG_MISMATCH:
      'The requisition changed since it was read: read it again and retry with its etag.',
    COMPUTATION_ETAG_MISMATCH:
      'The computation changed since it was read: read it again and retry with its etag.',
    REPORT_ETAG_MISMATCH: 'The report changed since it was read: read it again and retry with its etag.',
    STAGE_OUT_OF_ORDER: 'The duchy is not at the stage that this message is for: retry later.',
  },
  ALREADY_EXISTS: {
    REPORT_ALREADY_EXISTS: 'A report with this ID exists, or existed until it was deleted.',
    POPULATION_ALREADY_EXISTS: 'A population with this ID exists already.',
    MODEL_LINE_TAKEN: 'A model line belongs to another population: take it from that one first.',
    UPLOAD_ALREADY_EXISTS: 'The duchy has stored other data for this requisition or this stage already.',
    EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE:
      'Another descriptor of this provider already defines the message type (strict checks).',
    PARTY_ALREADY_EXISTS: 'A party with this ID exists already.',
    PRINCIPAL_ALREADY_EXISTS:
      'This subject of this issuer is bound already; metadata.existing names the binding.',
    TRUSTED_ROOT_ALREADY_EXISTS: 'This root is trusted already.',
    CERTIFICATE_ALREADY_EXISTS:
      'The party has registered this certificate already; metadata.existing names it.',
    REQUEST_ID_REUSED:
      'This requestId already created a resource with other content; metadata.existing names it.',
  },
  RESOURCE_EXHAUSTED: {
    RATE_LIMITED:
      'Too many requests from this principal or subject, too much descriptor work of it, or too many bad credentials from this address.',
    TOO_MANY_OPEN_MEASUREMENTS:
      'The consumer has as many measurements that are not complete as the operator allows: wait for some of them, or cancel some.',
    DEFERRED_TOO_OFTEN:
      'The requisition was deferred more than 10 times, and the last time was less than a minute ago.',
    TOO_MANY_DELIVERIES:
      'More than 1,000 changes would be delivered again within an hour to the webhooks of the party, or 10 tests of the webhook are not sent yet.',
    RESPONSE_TOO_LARGE: 'The response would be above 64 MiB: ask for fewer names.',
    DESCRIPTOR_TOO_COSTLY:
      'Reading the descriptor sets or messages takes too much time or memory: use smaller or simpler ones. A retry will not help.',
  },
  INTERNAL: {
    INTERNAL: 'A defect of the exchange; report the request ID.',
  },
  UNIMPLEMENTED: {
    METHOD_NOT_ALLOWED: 'The path exists with other methods; see the Allow header.',
  },
  UNAVAILABLE: {
    UNAVAILABLE: 'The exchange or something it needs is out of reach for now: retry.',
    KEYS_UNAVAILABLE: 'The keys of the token issuer cannot be fetched for now: retry.',
  },
  DEADLINE_EXCEEDED: {
    REQUEST_TIMEOUT: 'The request was not received in time.',
    DEADLINE_EXCEEDED: 'The request took too long; read the resource to learn whether it took effect.',
  },
} as const satisfies Record<Code, Record<string, string>>;

export type Reason = { [C in Code]: keyof (typeof MEANINGS)[C] }[Code];
/** A reason in a response. A newer exchange may send reasons that are not in this list. */
export type AnyReason = Reason | (string & Record<never, never>);

export const REASONS = Object.fromEntries(
  Object.entries(MEANINGS).flatMap(([code, meanings]) =>
    Object.entries(meanings).map(([reason, meaning]) => [reason, { code, meaning }]),
  ),
) as Record<Reason, { code: Code; meaning: string }>;

/** Reasons that have their own HTTP status instead of the status of their code. */
const SPECIFIC_STATUS: ReadonlyMap<AnyReason, number> = new Map([
  ['METHOD_NOT_ALLOWED', 405],
  ['REQUEST_TIMEOUT', 408],
  ['BODY_TOO_LARGE', 413],
  ['URI_TOO_LONG', 414],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['HEADERS_TOO_LARGE', 431],
]);

export function httpStatusOf(reason: AnyReason, code: Code): number {
  return SPECIFIC_STATUS.get(reason) ?? HTTP_STATUS[code];
}
