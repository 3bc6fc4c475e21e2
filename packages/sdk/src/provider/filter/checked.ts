import type { CelType } from '@bufbuild/cel';
import type { Expr } from './ast.ts';
import type { FilterCode, FilterError } from './errors.ts';

/** An expression whose names and types are correct. */
export interface Checked {
  /** The expression with each attribute resolved, see `attributeOf`. */
  expr: Expr;
  type: CelType;
  /** An upper bound on the steps of one evaluation; a step takes about a microsecond. */
  cost: number;
  /** An upper bound on the characters, bytes and items in the value. */
  size: number;
  /** The items of a list, if they are known. */
  items?: Items;
}

export interface Items {
  /** An upper bound on the number of items. */
  count: number;
  /** The size of the largest item. */
  size: number;
}

/** Creates the error for a position in the filter; the default code is FILTER_TYPE. */
export type Fail = (at: Expr, message: string, code?: FilterCode) => FilterError;
