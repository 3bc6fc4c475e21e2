/** The one error class of the exchange, and its JSON. */
import type { JsonObject, JsonValue } from '../values/jsonValue.ts';
import { type AnyReason, type Code, HTTP_STATUS, httpStatusOf, REASONS, type Reason } from './reasons.ts';

/** A field of the caller's request and what is wrong with it. */
export interface Violation {
  field: string;
  description: string;
}

interface ErrorOptions {
  /** Overrides the usual code of the reason. */
  code?: Code;
  metadata?: Record<string, string>;
  violations?: Violation[];
  retryAfterSeconds?: number | undefined;
  /** At a client: the x-request-id of the response, which finds its log line. */
  requestId?: string | undefined;
  /** For the log only; never part of a response. */
  cause?: unknown;
}

export const ERROR_DOMAIN = 'measurement-exchange';

/** Thrown where the fact is known, translated once per protocol. */
export class ExchangeError extends Error {
  readonly code: Code;
  readonly reason: AnyReason;
  readonly metadata: Record<string, string>;
  readonly violations: Violation[];
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;

  constructor(reason: Reason, message: string, options?: ErrorOptions);
  /** An error as a client received it, whatever its reason. */
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

  /** The same error of a request that wrapped its resource: the fields are named from the outside. */
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

  /** The body of the response: google.rpc.Status in JSON. */
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

/** Field violations as one error, with a reason of its own where fields are only missing. */
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
 * The error in the body of a response, as `toJSON` wrote it; undefined where the body is not one of an exchange.
 * An unknown reason stays as it is; an unknown code becomes the one with the same HTTP status.
 */
export function errorFromJson(
  body: JsonValue,
  headers: Pick<ErrorOptions, 'requestId' | 'retryAfterSeconds'> = {},
): ExchangeError | undefined {
  const { code: http, status, message, details } = objectIn(objectIn(body).error);
  const parts = Array.isArray(details) ? details.map(objectIn) : [];
  const part = (type: string) => parts.find((d) => d['@type'] === `type.googleapis.com/google.rpc.${type}`);
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
