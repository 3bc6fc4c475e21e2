/**
 * Defines the error with which the exchange and the duchies reject a request, and converts this error to and from JSON.
 */
import type { JsonObject, JsonValue } from '../values/jsonValue.ts';
import { type AnyReason, type Code, HTTP_STATUS, httpStatusOf, REASONS, type Reason } from './reasons.ts';

/** A field of the caller's request, and the rule that it violates. */
export interface Violation {
  field: string;
  description: string;
}

interface ErrorOptions {
  /** Overrides the reason's usual code. */
  code?: Code;
  metadata?: Record<string, string>;
  violations?: Violation[];
  retryAfterSeconds?: number | undefined;
  /** The `x-request-id` header of the response. The exchange's log contains the same ID. */
  requestId?: string | undefined;
  /** The exchange logs the cause, but never includes it in a response. */
  cause?: unknown;
}

export const ERROR_DOMAIN = 'measurement-exchange';

const typeUrl = (type: string) => `type.googleapis.com/google.rpc.${type}`;

/** Thrown by the code that detects a problem. The HTTP and gRPC servers convert the error to a response. */
export class ExchangeError extends Error {
  readonly code: Code;
  readonly reason: AnyReason;
  readonly metadata: Record<string, string>;
  readonly violations: Violation[];
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;

  constructor(reason: Reason, message: string, options?: ErrorOptions);
  /**
   * Creates an error from a response. Needs `code`, because a newer exchange can send a reason that this client does
   * not know.
   */
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
    return httpStatusOf(this.reason, this.code);
  }

  /**
   * Returns the same error with `member` prepended to its field paths, for a request that wraps its resource in
   * `member`.
   */
  wrappedIn(member: string): ExchangeError {
    const violations = this.violations.map((v) => ({ ...v, field: `${member}.${v.field}` }));
    return new ExchangeError(this.reason, this.message, { ...this, violations, cause: this.cause });
  }

  toJSON() {
    const { reason, metadata, violations, retryAfterSeconds } = this;
    const detail = (type: string, fields: object) => ({ '@type': typeUrl(type), ...fields });
    const details = [detail('ErrorInfo', { reason, domain: ERROR_DOMAIN, metadata })];
    if (violations.length > 0) details.push(detail('BadRequest', { fieldViolations: violations }));
    if (retryAfterSeconds !== undefined) {
      details.push(detail('RetryInfo', { retryDelay: `${retryAfterSeconds}s` }));
    }
    return { error: { code: this.httpStatus, status: this.code, message: this.message, details } };
  }
}

/**
 * Returns one error for all violations. If every violation is a missing field, the reason is REQUIRED_FIELD_NOT_SET.
 */
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
 * Reads an error that `toJSON` wrote, or returns undefined if the body is not an error from an exchange. Accepts a
 * reason that this version does not know. Replaces an unknown code with the code for the HTTP status in the body.
 */
export function errorFromJson(
  body: JsonValue,
  headers: Pick<ErrorOptions, 'requestId' | 'retryAfterSeconds'> = {},
): ExchangeError | undefined {
  const { code: http, status, message, details } = objectIn(objectIn(body).error);
  const parts = Array.isArray(details) ? details.map(objectIn) : [];
  const part = (type: string) => parts.find((d) => d['@type'] === typeUrl(type));
  const info = part('ErrorInfo');
  if (info?.domain !== ERROR_DOMAIN || typeof info.reason !== 'string' || typeof message !== 'string') return;
  const fieldViolations = part('BadRequest')?.fieldViolations;
  const delay = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(String(part('RetryInfo')?.retryDelay))?.[1];
  const waits = [headers.retryAfterSeconds, delay && Number(delay)].filter((s) => typeof s === 'number');
  return new ExchangeError(info.reason, message, {
    code:
      CODES.find((code) => code === status) ?? CODES.find((code) => HTTP_STATUS[code] === http) ?? 'INTERNAL',
    metadata: Object.fromEntries(Object.entries(objectIn(info.metadata)).map(([k, v]) => [k, String(v)])),
    violations: (Array.isArray(fieldViolations) ? fieldViolations : []).map(objectIn).map((v) => ({
      field: String(v.field ?? ''),
      description: String(v.description ?? ''),
    })),
    retryAfterSeconds: waits.length > 0 ? Math.max(...waits) : undefined,
    requestId: headers.requestId,
  });
}

const CODES = Object.keys(HTTP_STATUS) as Code[];

function objectIn(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
