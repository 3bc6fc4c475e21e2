import type { RefusalCode } from '../../refusals/codes.ts';
import { type FilterPosition, RefusalError } from '../../refusals/refusalError.ts';

export type FilterCode = Extract<RefusalCode, `FILTER_${string}`>;

/** Thrown if a filter is not valid CEL, does not match the names and types of the attributes, or is too costly. */
export class FilterError extends RefusalError {
  override readonly name = 'FilterError';
  declare readonly code: FilterCode;

  constructor(code: FilterCode, message: string, position?: FilterPosition) {
    super(code, position ? `${message} (line ${position.line}, column ${position.column})` : message, {
      position,
    });
  }
}

/**
 * Thrown if a query exceeds one of the provider's limits. The query is not retried, because it would exceed the limit
 * again.
 */
export class QueryStopped extends RefusalError {
  override readonly name = 'QueryStopped';

  constructor(message: string) {
    super('QUERY_STOPPED', message);
  }
}

/** A FilterError as plain values, which can be sent between processes. */
export type FilterFault = Pick<FilterError, 'message' | 'position'> & { code: FilterCode };

export function errorOf({ code, message, position }: FilterFault): FilterError {
  return Object.assign(new FilterError(code, message), { position });
}
