/** A query that can never be computed because the consumer's specification is invalid. */
export class InvalidQuery extends Error {
  override name = 'InvalidQuery';
}

/** A filter that is not valid CEL, does not fit the attributes' types, or is too large. */
export class FilterError extends InvalidQuery {
  override name = 'FilterError';
  /** The 1-based position of the error in the filter, if known. */
  readonly position: { line: number; column: number } | undefined;

  constructor(message: string, position?: { line: number; column: number }) {
    super(position === undefined ? message : `${message} (line ${position.line}, column ${position.column})`);
    this.position = position;
  }
}

/** A filter that names an attribute the events do not have. */
export class UnknownAttribute extends FilterError {
  override name = 'UnknownAttribute';
}

/** A query that was stopped because it went past a limit of the provider. It would again, so it is not retried. */
export class QueryStopped extends Error {
  override name = 'QueryStopped';
}

/** A FilterError as plain values. */
export type FilterFault = Pick<FilterError, 'name' | 'message' | 'position'>;

/** The error that was described. */
export function errorOf({ name, message, position }: FilterFault): FilterError {
  const error = name === 'UnknownAttribute' ? new UnknownAttribute(message) : new FilterError(message);
  return Object.assign(error, { position });
}
