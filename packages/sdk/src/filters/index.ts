/** Checks a CEL filter before it is sent to data providers, which check it in the same way. Runs in browsers too. */
import type { FilterPosition } from '../refusals/refusalError.ts';
import { requireFunctions } from './calls.ts';
import { checkFilter } from './check.ts';
import { type FilterCode, FilterError } from './errors.ts';
import { parseFilter } from './parse.ts';
import type { AttributeType } from './types.ts';

export type { FilterPosition } from '../refusals/refusalError.ts';
export type { FilterCode } from './errors.ts';

/** An attribute that an event group publishes. */
export interface PublishedAttribute {
  name: string;
  type: Uppercase<AttributeType>;
}

/** The reason that a filter cannot be used. */
export interface FilterProblem {
  code: FilterCode;
  /** A human-readable message. It does not contain the position. */
  message: string;
  /** Absent if the problem concerns the whole filter. */
  position?: FilterPosition;
  /** The attribute or function whose name is most similar to an unknown name in the filter. */
  suggestion?: string;
}

/**
 * Returns the first problem with a filter, or undefined if the filter is valid. Omit `attributes` if the data provider
 * does not publish them. In that case, only the syntax and the names of functions are checked.
 *
 * @example
 * filterProblem('agee > 30', [{ name: 'age', type: 'INT' }]);
 * // { code: 'FILTER_ATTRIBUTE', position: { line: 1, column: 1 }, suggestion: 'age',
 * //   message: 'There is no attribute agee; …' }
 */
export function filterProblem(
  expression: string,
  attributes?: readonly PublishedAttribute[],
): FilterProblem | undefined {
  try {
    const [parsed, fail] = parseFilter(expression);
    if (attributes === undefined) requireFunctions(parsed.expr!, fail);
    else checkFilter(parsed, fail, typesOf(attributes));
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return { code: 'FILTER_LIMIT', message: 'The filter nests too deep' };
    if (!(error instanceof FilterError)) throw error;
    const { code, reason, position, suggestion } = error;
    return { code, message: reason, ...(position && { position }), ...(suggestion && { suggestion }) };
  }
}

function typesOf(attributes: readonly PublishedAttribute[]): Record<string, AttributeType> {
  const types: Record<string, AttributeType> = Object.create(null);
  for (const { name, type } of attributes) types[name] = type.toLowerCase() as AttributeType;
  return types;
}
