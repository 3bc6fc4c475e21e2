/** What goes wrong between a caller and the exchange. What the exchange itself says is an `ExchangeError`. */
import { ExchangeError } from '@measurement-exchange/contract';

/** No answer came: the connection failed, or the time was up. Whether a change took effect is not known. */
export class Unreachable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unreachable';
  }
}

/** Something answered that is not this exchange's contract: a proxy's page, a redirect, an answer cut short. */
export class UnexpectedAnswer extends Error {
  /** The HTTP status; 0 where a browser hides it. */
  readonly status: number;
  readonly requestId: string | undefined;
  /** Whether the same call may well succeed later. */
  readonly transient: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: { status: number; transient: boolean; requestId?: string; retryAfterSeconds?: number },
  ) {
    super(message);
    this.name = 'UnexpectedAnswer';
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
 * Whether the failure says nothing about the request, so that the same call may succeed later: the exchange out of
 * reach, overloaded, too slow or broken, as opposed to a refusal.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof ExchangeError) {
    return TRANSIENT_CODES.includes(error.code) && error.reason !== 'RESPONSE_TOO_LARGE';
  }
  if (error instanceof UnexpectedAnswer) return error.transient;
  return error instanceof Unreachable || (error instanceof Error && error.name === 'TimeoutError');
}
