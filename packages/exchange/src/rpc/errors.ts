/** Translates errors to gRPC, with the details that clients of the public reference system read. */
import { ConnectError, Code as GrpcCode } from '@connectrpc/connect';
import { type Code, ExchangeError, type Violation } from '@measurement-exchange/contract';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from '@measurement-exchange/contract/rpc';
import { internalError } from '../serving/index.ts';

/**
 * The error domain. gRPC errors use the domain of the public reference system, because its clients compare the domain.
 * REST errors have a different domain.
 */
const DOMAIN = 'halo.wfanet.org';

const CODES: Record<Code, GrpcCode> = {
  INVALID_ARGUMENT: GrpcCode.InvalidArgument,
  FAILED_PRECONDITION: GrpcCode.FailedPrecondition,
  UNAUTHENTICATED: GrpcCode.Unauthenticated,
  PERMISSION_DENIED: GrpcCode.PermissionDenied,
  NOT_FOUND: GrpcCode.NotFound,
  ABORTED: GrpcCode.Aborted,
  ALREADY_EXISTS: GrpcCode.AlreadyExists,
  RESOURCE_EXHAUSTED: GrpcCode.ResourceExhausted,
  INTERNAL: GrpcCode.Internal,
  UNIMPLEMENTED: GrpcCode.Unimplemented,
  UNAVAILABLE: GrpcCode.Unavailable,
  DEADLINE_EXCEEDED: GrpcCode.DeadlineExceeded,
};

export function toExchangeError(error: unknown): ExchangeError {
  return error instanceof ExchangeError ? error : internalError(error);
}

export function toConnectError(error: ExchangeError, requestId: string): ConnectError {
  const { reason, metadata, violations, retryAfterSeconds } = error;
  const connectError = new ConnectError(error.message, codeOf(error));
  connectError.details = [
    { desc: ErrorInfoSchema, value: { reason, domain: DOMAIN, metadata } },
    { desc: RequestInfoSchema, value: { requestId } },
  ];
  if (violations.length > 0) {
    connectError.details.push({ desc: BadRequestSchema, value: { fieldViolations: fitting(violations) } });
  }
  if (retryAfterSeconds !== undefined) {
    const seconds = BigInt(Math.ceil(retryAfterSeconds));
    connectError.details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds } } });
  }
  return connectError;
}

/**
 * Returns the gRPC code of an error. Only a response that is too large is RESOURCE_EXHAUSTED, because clients react to
 * this code by immediately requesting half the page size. A rate limit becomes UNAVAILABLE, because a later retry can
 * succeed. All other limits become FAILED_PRECONDITION.
 */
function codeOf({ code, reason }: ExchangeError): GrpcCode {
  if (code !== 'RESOURCE_EXHAUSTED' || reason === 'RESPONSE_TOO_LARGE') return CODES[code];
  return reason === 'RATE_LIMITED' ? GrpcCode.Unavailable : GrpcCode.FailedPrecondition;
}

/** The details are sent in a trailer, and many clients accept trailers of at most 8 KiB in base64. */
const MAX_VIOLATION_BYTES = 4 * 1024;

function fitting(violations: readonly Violation[]): Violation[] {
  let left = MAX_VIOLATION_BYTES;
  return violations.filter(({ field, description }, i) => {
    left -= Buffer.byteLength(field) + Buffer.byteLength(description) + 8;
    return left >= 0 || i === 0;
  });
}
