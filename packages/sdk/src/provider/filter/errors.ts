import { type FilterCode, FilterError } from '../../filters/errors.ts';
import { RefusalError } from '../../refusals/refusalError.ts';

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
