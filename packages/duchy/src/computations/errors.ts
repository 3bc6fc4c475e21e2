import {
  describeFailure,
  describeProgress,
  type FailureCode,
  type Position,
  type ProgressCode,
  positionViolations,
} from '@measurement-exchange/contract';

interface Options extends ErrorOptions {
  /** For the log of this duchy only. It must not hold values of anybody's data either. */
  detail?: string | undefined;
}

/** The exchange would reject a code whose position is not valid. */
function nameable(position: Position): Position {
  return positionViolations(position).length === 0 ? position : {};
}

/**
 * An error that no retry overcomes: the computation fails. All participants read the code and the position, so both come
 * from closed lists and hold nothing that was computed or received.
 */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
  readonly code: FailureCode;
  readonly position: Position;
  readonly detail: string | undefined;

  constructor(code: FailureCode, position: Position = {}, { detail, ...options }: Options = {}) {
    const named = nameable(position);
    super(describeFailure(code, named), options);
    this.code = code;
    this.position = named;
    this.detail = detail;
  }
}

/** Another party is down or late. The stage waits for it as long as the exchange allows. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
  readonly code: ProgressCode;
  readonly position: Position;
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProgressCode,
    position: Position = {},
    { detail, retryAfterSeconds, ...options }: Options & { retryAfterSeconds?: number | undefined } = {},
  ) {
    const named = nameable(position);
    super(describeProgress(code, named), options);
    this.code = code;
    this.position = named;
    this.detail = detail;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
