/** No retry helps: the computation fails. Its consumer reads the message, so it holds nothing of what was computed. */
export class PermanentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PermanentError';
  }
}

/** Somebody else is down or behind, and the stage waits for it as long as the exchange lets it. */
export class NotReady extends Error {
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number | undefined } = {}) {
    super(message, options);
    this.name = 'NotReady';
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
