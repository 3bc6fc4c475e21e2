import {
  describeFailure,
  describeProgress,
  type FailureCode,
  type Position,
  type ProgressCode,
  positionViolations,
} from '@measurement-exchange/contract';

interface Options extends ErrorOptions {
  /** For the log of this duchy alone; without values of anybody's data all the same. */
  detail?: string | undefined;
}

/** The exchange would reject the code together with a position that it does not take. */
function nameable(position: Position): Position {
  return positionViolations(position).length === 0 ? position : {};
}

/**
 * No retry helps: the computation fails. Everybody who sees the measurement reads the code and the position, so both come
 * from closed lists, and nothing that was computed or received is in them.
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

/** Somebody else is down or behind, and the stage waits for it as long as the exchange lets it. */
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
