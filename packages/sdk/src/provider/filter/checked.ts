import type { CelType } from '@bufbuild/cel';
import type { Expr } from './ast.ts';
import type { FilterCode, FilterError } from './errors.ts';

/** An expression whose names and types are right. */
export interface Checked {
  /** The expression with each attribute resolved, see `attributeOf`. */
  expr: Expr;
  type: CelType;
  /** An upper bound of the steps one evaluation takes; a step is about a microsecond. */
  cost: number;
  /** An upper bound of the characters, bytes and items in its value. */
  size: number;
  /** The items of a list, where they are known. */
  items?: Items;
}

export interface Items {
  /** There are at most so many. */
  count: number;
  /** The size of the largest. */
  size: number;
}

/** Creates the error for a position in the filter, by default of the code FILTER_TYPE. */
export type Fail = (at: Expr, message: string, code?: FilterCode) => FilterError;
