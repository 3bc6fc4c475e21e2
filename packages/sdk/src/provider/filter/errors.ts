/** A query that can never be answered as it was asked: the consumer's specification is at fault. */
export class InvalidQuery extends Error {
  override name = 'InvalidQuery';
}

/** A filter that is not valid CEL, does not fit the attributes' types, or is too large. */
export class FilterError extends InvalidQuery {
  override name = 'FilterError';
  /** 1-based place in the filter, where one place is at fault. */
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
