import type { CelType } from '@bufbuild/cel';
import type { Expr } from './ast.ts';
import type { FilterError } from './errors.ts';

/** An expression whose names and types are right. */
export interface Checked {
  /** The expression with each attribute resolved, see `attributeOf`. */
  expr: Expr;
  type: CelType;
  /** An upper bound of the steps one evaluation takes. */
  cost: number;
}

/** Creates the error for a position in the filter. */
export type Fail = (at: Expr, message: string, kind?: typeof FilterError) => FilterError;
