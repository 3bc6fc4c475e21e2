/** Errors of the connection to the exchange. An error that the exchange itself returns is an `ExchangeError`. */
import { ExchangeError } from '@measurement-exchange/contract';

/**
 * Thrown if the connection failed or timed out before the complete response arrived. If the call was a change, the
 * change may have taken effect.
 */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Thrown if a response is invalid. For example, it is a proxy's page or a redirect, or its body is truncated. */
export class UnexpectedResponse extends Error {
  /** The HTTP status; 0 if the browser hides it. */
  readonly status: number;
  readonly requestId: string | undefined;
  readonly transient: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: { status: number; transient: boolean; requestId?: string; retryAfterSeconds?: number },
  ) {
    super(message);
    this.name = 'UnexpectedResponse';
    this.status = details.status;
    this.transient = details.transient;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

const TRANSIENT_CODES: readonly string[] = [
  'UNAVAILABLE',
  'RESOURCE_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
] satisfies ExchangeError['code'][];
/** The error reasons after which the same request cannot succeed, although the error's code is in TRANSIENT_CODES. */
const FINAL_REASONS = ['RESPONSE_TOO_LARGE', 'DESCRIPTOR_TOO_COSTLY'];

/**
 * Returns whether the same request could succeed later, because the exchange was unreachable, overloaded, or broken.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof ExchangeError) {
    return TRANSIENT_CODES.includes(error.code) && !FINAL_REASONS.includes(error.reason);
  }
  if (error instanceof UnexpectedResponse) return error.transient;
  return error instanceof Unreachable || (error instanceof Error && error.name === 'TimeoutError');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
