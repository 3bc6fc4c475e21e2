import type { CelType } from '@bufbuild/cel';
import type { Expr } from './ast.ts';
import type { FilterCode, FilterError } from './errors.ts';

/** An expression whose names and types are correct. */
export interface Checked {
  /** The expression with all attributes resolved (see `attributeOf`). */
  expr: Expr;
  type: CelType;
  /** An upper bound on the number of steps in one evaluation. A step takes about a microsecond. */
  cost: number;
  /** An upper bound on the number of characters, bytes, and items in the value. */
  size: number;
  /** The number and size of a list's items, if they are known. */
  items?: Items;
  /** For an attribute in `KnownValues`: whether its value is present. Undefined for every other expression. */
  isPresent?: boolean;
}

export interface Items {
  /** An upper bound on the number of items. */
  count: number;
  size: number;
}

/** Creates an error that points to a position in the filter. The default code is FILTER_TYPE. */
export type Fail = (at: Expr, message: string, code?: FilterCode, suggestion?: string) => FilterError;
