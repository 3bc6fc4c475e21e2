/** Errors between a caller and the exchange. Errors of the exchange itself are `ExchangeError`. */
import { ExchangeError } from '@measurement-exchange/contract';

/** No response: the connection failed or timed out. Whether a change took effect is unknown. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** A response that is not one of the exchange: a proxy's page, a redirect, a truncated body. */
export class UnexpectedResponse extends Error {
  /** The HTTP status; 0 where a browser hides it. */
  readonly status: number;
  readonly requestId: string | undefined;
  /** Whether a retry may succeed. */
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

/**
 * Whether the error is not about the request, so that a retry may succeed: the exchange is unreachable, overloaded,
 * too slow or broken.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof ExchangeError) {
    return TRANSIENT_CODES.includes(error.code) && error.reason !== 'RESPONSE_TOO_LARGE';
  }
  if (error instanceof UnexpectedResponse) return error.transient;
  return error instanceof Unreachable || (error instanceof Error && error.name === 'TimeoutError');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
