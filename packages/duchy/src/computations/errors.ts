import {
  describeFailure,
  describeProgress,
  type FailureCode,
  type Position,
  type ProgressCode,
  positionViolations,
} from '@measurement-exchange/contract';

interface Options extends ErrorOptions {
  /** Text for this duchy's log only. It must not contain any party's data. */
  detail?: string | undefined;
}

abstract class CodedError<Code> extends Error {
  readonly code: Code;
  readonly position: Position;
  readonly detail: string | undefined;

  constructor(
    describe: (code: Code, position: Position) => string,
    code: Code,
    position: Position,
    { detail, ...options }: Options,
  ) {
    // Drop an invalid position, because the exchange would reject a request that contains it.
    const valid = positionViolations(position).length === 0 ? position : {};
    super(describe(code, valid), options);
    this.code = code;
    this.position = valid;
    this.detail = detail;
  }
}

/**
 * An error that a retry cannot fix, so the computation fails. All participants can read the code and the position, so
 * these must not contain computed or received data.
 */
export class PermanentError extends CodedError<FailureCode> {
  override readonly name = 'PermanentError';

  constructor(code: FailureCode, position: Position = {}, options: Options = {}) {
    super(describeFailure, code, position, options);
  }
}

/**
 * Thrown if a stage must wait: because another party is down or late, because a certificate is not valid yet, or
 * because this process is connected to the wrong database. The stage is retried for as long as the exchange allows.
 */
export class NotReady extends CodedError<ProgressCode> {
  override readonly name = 'NotReady';
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProgressCode,
    position: Position = {},
    { retryAfterSeconds, ...options }: Options & { retryAfterSeconds?: number | undefined } = {},
  ) {
    super(describeProgress, code, position, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
