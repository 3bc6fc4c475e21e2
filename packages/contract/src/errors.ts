import type { JsonObject, JsonValue } from './json.ts';

/** The google.rpc codes the exchange answers with, and the HTTP status each one travels under. */
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
  /** Set where the transport has a status of its own for this refusal. */
  http?: number;
  meaning: string;
}

/** Every reason the exchange may give: a closed list, printed into docs/errors.md. */
export const REASONS = {
  // The request as such.
  INVALID_FIELD_VALUE: {
    code: 'INVALID_ARGUMENT',
    meaning: 'A field is malformed, unknown or out of range; fieldViolations names each one.',
  },
  REQUIRED_FIELD_NOT_SET: {
    code: 'INVALID_ARGUMENT',
    meaning: 'A required field is missing; fieldViolations names each one.',
  },
  MALFORMED_JSON: {
    code: 'INVALID_ARGUMENT',
    meaning:
      'The body is not JSON, or holds duplicate keys, NUL, broken Unicode, too much nesting or too many values.',
  },
  MALFORMED_REQUEST: {
    code: 'INVALID_ARGUMENT',
    meaning: 'The request is not well-formed HTTP, or carries a header twice that may come once.',
  },
  MALFORMED_NAME: {
    code: 'INVALID_ARGUMENT',
    meaning: 'A resource name does not match its pattern.',
  },
  INVALID_PAGE_TOKEN: {
    code: 'INVALID_ARGUMENT',
    meaning: 'The page token was altered, or belongs to another list, parent or filter.',
  },
  CHECK_FAILED: {
    code: 'INVALID_ARGUMENT',
    meaning: 'Under strict checks a finding refuses the request; fieldViolations names each one.',
  },
  NONCE_MISMATCH: {
    code: 'INVALID_ARGUMENT',
    meaning: 'The nonce does not hash to the nonceHash of the requisition.',
  },
  ROUTE_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No operation has this path.' },
  METHOD_NOT_ALLOWED: {
    code: 'UNIMPLEMENTED',
    http: 405,
    meaning: 'The path exists with other methods; see the Allow header.',
  },
  REQUEST_TIMEOUT: {
    code: 'DEADLINE_EXCEEDED',
    http: 408,
    meaning: 'The request was not received in time.',
  },
  BODY_TOO_LARGE: { code: 'INVALID_ARGUMENT', http: 413, meaning: 'The body is above the size limit.' },
  URI_TOO_LONG: { code: 'INVALID_ARGUMENT', http: 414, meaning: 'The URL is above the size limit.' },
  UNSUPPORTED_MEDIA_TYPE: {
    code: 'INVALID_ARGUMENT',
    http: 415,
    meaning: 'A request body must be application/json, in UTF-8, not compressed.',
  },
  HEADERS_TOO_LARGE: {
    code: 'INVALID_ARGUMENT',
    http: 431,
    meaning: 'The request headers are above the size limit.',
  },
  // The caller.
  TOKEN_INVALID: {
    code: 'UNAUTHENTICATED',
    meaning: 'The bearer ID token is missing or not acceptable; the log line of the request says why.',
  },
  PRINCIPAL_UNKNOWN: {
    code: 'PERMISSION_DENIED',
    meaning: 'The token is good, but its subject is bound to no principal of this exchange.',
  },
  PRINCIPAL_SUSPENDED: { code: 'PERMISSION_DENIED', meaning: 'The party of this token is suspended.' },
  PERMISSION_DENIED: {
    code: 'PERMISSION_DENIED',
    meaning: 'This principal may not do this here, whether or not the resource exists.',
  },
  RATE_LIMITED: {
    code: 'RESOURCE_EXHAUSTED',
    meaning: 'Too many requests from this principal, or too many bad tokens from this address.',
  },
  RESPONSE_TOO_LARGE: {
    code: 'RESOURCE_EXHAUSTED',
    meaning: 'The answer would be above 64 MiB; ask for fewer names.',
  },
  // Resources.
  MEASUREMENT_CONSUMER_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such measurement consumer.' },
  DATA_PROVIDER_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such data provider.' },
  DUCHY_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such duchy.' },
  DATA_PROVIDER_SUSPENDED: {
    code: 'FAILED_PRECONDITION',
    meaning: 'A data provider of the request is suspended and takes no new requisitions.',
  },
  MEASUREMENT_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such measurement.' },
  MEASUREMENT_STATE_ILLEGAL: {
    code: 'FAILED_PRECONDITION',
    meaning: 'The measurement is in a state that does not allow this.',
  },
  REQUISITION_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such requisition.' },
  REQUISITION_STATE_ILLEGAL: {
    code: 'FAILED_PRECONDITION',
    meaning: 'The requisition is in a state that does not allow this.',
  },
  REQUISITION_ETAG_MISMATCH: {
    code: 'ABORTED',
    meaning: 'The requisition changed since it was read: read it again and retry with its etag.',
  },
  PROTOCOL_NOT_DIRECT: {
    code: 'FAILED_PRECONDITION',
    meaning: 'The protocol of this measurement takes no direct result.',
  },
  CERTIFICATE_NOT_FOUND: {
    code: 'NOT_FOUND',
    meaning: 'No such certificate (FAILED_PRECONDITION when it is only referred to).',
  },
  CERTIFICATE_IS_INVALID: {
    code: 'FAILED_PRECONDITION',
    meaning: 'The certificate is revoked, on hold, or outside its validity period.',
  },
  EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such descriptor.' },
  EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE: {
    code: 'ALREADY_EXISTS',
    meaning: 'Another descriptor of this provider already defines the message type (strict checks).',
  },
  SCHEMA_CHANGE_BREAKING: {
    code: 'FAILED_PRECONDITION',
    meaning: 'The update would break readers of the schema (strict checks): create a new descriptor instead.',
  },
  EVENT_GROUP_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such event group, or it is deleted.' },
  EVENT_GROUP_INVALID_ARGS: {
    code: 'INVALID_ARGUMENT',
    meaning: 'The measurement consumer of an event group cannot change.',
  },
  METADATA_NOT_READABLE: {
    code: 'FAILED_PRECONDITION',
    meaning: 'The event group has no readable metadata: it has none, or it is encrypted.',
  },
  PARTY_ALREADY_EXISTS: { code: 'ALREADY_EXISTS', meaning: 'A party with this ID exists already.' },
  PRINCIPAL_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such binding.' },
  PRINCIPAL_ALREADY_EXISTS: {
    code: 'ALREADY_EXISTS',
    meaning: 'This subject of this issuer is bound already; metadata.existing names the binding.',
  },
  TRUSTED_ROOT_NOT_FOUND: { code: 'NOT_FOUND', meaning: 'No such trusted root.' },
  TRUSTED_ROOT_ALREADY_EXISTS: { code: 'ALREADY_EXISTS', meaning: 'This root is trusted already.' },
  CERTIFICATE_ALREADY_EXISTS: { code: 'ALREADY_EXISTS', meaning: 'This certificate is registered already.' },
  CERT_SUBJECT_KEY_ID_ALREADY_EXISTS: {
    code: 'ALREADY_EXISTS',
    meaning: 'Another party has a certificate with this subject key identifier.',
  },
  CERTIFICATE_REVOCATION_STATE_ILLEGAL: {
    code: 'FAILED_PRECONDITION',
    meaning: 'REVOKED is final, and only a certificate on HOLD can be released.',
  },
  REQUEST_ID_REUSED: {
    code: 'ALREADY_EXISTS',
    meaning: 'This requestId already created another content; metadata.existing names the resource.',
  },
  // The service.
  INTERNAL: { code: 'INTERNAL', meaning: 'A defect of the exchange; report the request ID.' },
  UNAVAILABLE: {
    code: 'UNAVAILABLE',
    meaning: 'The exchange or something it needs is out of reach for now: retry.',
  },
  KEYS_UNAVAILABLE: {
    code: 'UNAVAILABLE',
    meaning: 'The keys of the token issuer cannot be fetched for now: retry.',
  },
  DEADLINE_EXCEEDED: {
    code: 'DEADLINE_EXCEEDED',
    meaning: 'The request took too long; read the resource to learn whether it took effect.',
  },
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof REASONS;
/** A reason of an answer: an exchange newer than this table may give others. */
export type AnyReason = Reason | (string & Record<never, never>);

/** A field of the caller's request and what is wrong with it. */
export interface Violation {
  field: string;
  description: string;
}

export interface ErrorOptions {
  /** Overrides the usual code of the reason. */
  code?: Code;
  metadata?: Record<string, string>;
  violations?: Violation[];
  retryAfterSeconds?: number | undefined;
  /** At a client: the x-request-id of the answer, which finds its log line. */
  requestId?: string | undefined;
  /** For the log only; never part of an answer. */
  cause?: unknown;
}

export const ERROR_DOMAIN = 'measurement-exchange';

/** The one error class: thrown where the fact is known, translated once per face. */
export class ExchangeError extends Error {
  readonly code: Code;
  readonly reason: AnyReason;
  readonly metadata: Record<string, string>;
  readonly violations: Violation[];
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;

  constructor(reason: Reason, message: string, options?: ErrorOptions);
  /** An answer as it came, whatever its reason. */
  constructor(reason: AnyReason, message: string, options: ErrorOptions & { code: Code });
  constructor(reason: AnyReason, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ExchangeError';
    this.reason = reason;
    this.code = options.code ?? REASONS[reason as Reason].code;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.requestId = options.requestId;
  }

  get httpStatus(): number {
    const row: ReasonRow | undefined = Object.hasOwn(REASONS, this.reason)
      ? REASONS[this.reason as Reason]
      : undefined;
    return row?.http ?? HTTP_STATUS[this.code];
  }

  /** The same refusal of a request whose resource was wrapped: its fields are named from the outside. */
  wrappedIn(member: string): ExchangeError {
    const { code, metadata, retryAfterSeconds, cause } = this;
    const violations = this.violations.map((v) => ({ ...v, field: `${member}.${v.field}` }));
    return new ExchangeError(this.reason, this.message, {
      code,
      metadata,
      violations,
      retryAfterSeconds,
      cause,
    });
  }

  /** The body of an answer, as google.rpc.Status in JSON. */
  toJSON() {
    const details: Record<string, unknown>[] = [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: this.reason,
        domain: ERROR_DOMAIN,
        metadata: this.metadata,
      },
    ];
    if (this.violations.length > 0) {
      details.push({
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: this.violations,
      });
    }
    if (this.retryAfterSeconds !== undefined) {
      details.push({
        '@type': 'type.googleapis.com/google.rpc.RetryInfo',
        retryDelay: `${this.retryAfterSeconds}s`,
      });
    }
    return { error: { code: this.httpStatus, status: this.code, message: this.message, details } };
  }
}

/** Field violations as one error; missing fields only get the reason of their own. */
export function invalid(violations: Violation[]): ExchangeError {
  const reason = violations.every((v) => v.description === REQUIRED)
    ? 'REQUIRED_FIELD_NOT_SET'
    : 'INVALID_FIELD_VALUE';
  const first = violations[0]!;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
  return new ExchangeError(reason, `${first.field}: ${first.description}${more}`, {
    violations,
    metadata: { fieldName: first.field },
  });
}

export const REQUIRED = 'is required';

/**
 * The error in the body of an answer, read back from the JSON of `toJSON`; undefined where the body is not one of an
 * exchange. A reason that this version does not know is kept; a code, it has the one of the same HTTP status.
 */
export function errorFromJson(
  body: JsonValue,
  answer: Pick<ErrorOptions, 'requestId' | 'retryAfterSeconds'> = {},
): ExchangeError | undefined {
  const { code: http, status, message, details } = objectIn(objectIn(body).error);
  const parts = Array.isArray(details) ? details.map(objectIn) : [];
  const part = (type: string) => parts.find((d) => d['@type'] === `type.googleapis.com/google.rpc.${type}`);
  const info = part('ErrorInfo');
  if (info?.domain !== ERROR_DOMAIN || typeof info.reason !== 'string' || typeof message !== 'string') return;
  const fieldViolations = part('BadRequest')?.fieldViolations;
  const delay = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(String(part('RetryInfo')?.retryDelay))?.[1];
  const waits = [answer.retryAfterSeconds, delay && Number(delay)].filter((s) => typeof s === 'number');
  return new ExchangeError(info.reason, message, {
    code:
      CODES.find((code) => code === status) ?? CODES.find((code) => HTTP_STATUS[code] === http) ?? 'INTERNAL',
    metadata: Object.fromEntries(Object.entries(objectIn(info.metadata)).map(([k, v]) => [k, String(v)])),
    violations: (Array.isArray(fieldViolations) ? fieldViolations : []).map(objectIn).map((v) => ({
      field: String(v.field ?? ''),
      description: String(v.description ?? ''),
    })),
    retryAfterSeconds: waits.length > 0 ? Math.max(...waits) : undefined,
    requestId: answer.requestId,
  });
}

const CODES = Object.keys(HTTP_STATUS) as Code[];

function objectIn(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
