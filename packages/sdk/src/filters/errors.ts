import type { RefusalCode } from '../refusals/codes.ts';
import { type FilterPosition, RefusalError } from '../refusals/refusalError.ts';

export type FilterCode = Extract<RefusalCode, `FILTER_${string}`>;

/** Thrown if a filter is not valid CEL, does not match the names and types of the attributes, or is too costly. */
export class FilterError extends RefusalError {
  override readonly name = 'FilterError';
  declare readonly code: FilterCode;
  /** The message without the position. */
  readonly reason: string;
  /** The known name that is most similar to an unknown name in the filter. */
  readonly suggestion: string | undefined;

  constructor(code: FilterCode, reason: string, position?: FilterPosition, suggestion?: string) {
    super(code, position ? `${reason} (line ${position.line}, column ${position.column})` : reason, {
      position,
    });
    this.reason = reason;
    this.suggestion = suggestion;
  }
}
