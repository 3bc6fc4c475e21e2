import type { AttributeType } from '../../filters/types.ts';

/** The SQL dialects that filters are translated to. */
export type DialectName = 'clickhouse' | 'duckdb' | 'postgres';

export type Comparison = '=' | '<' | '<=' | '>' | '>=';

/**
 * Writes the parts of a filter in an engine's SQL. Where CEL gives an error, the SQL gives NULL. The SQL never makes
 * the engine fail. A dialect leaves out operations whose results differ between CEL and the engine. CEL then evaluates
 * these operations.
 */
export interface Dialect {
  /** SQL for NULL with the type boolean. It stands for an error in CEL. */
  readonly unknown: string;
  /** Whether the engine can represent a constant exactly. A timestamp is in microseconds since 1970. */
  canBind(value: string | bigint | number | boolean, type: AttributeType): boolean;
  /**
   * Writes a comparison of two values of a type. The result is NULL if one of them is NULL. Otherwise, the result is
   * false if one of them is NaN. Text is compared by code points. An operand of type double is always an attribute or a
   * constant.
   */
  compare(type: AttributeType, a: string, operator: Comparison, b: string): string;
  /** Writes arithmetic with 64-bit integers. An overflow or a division by zero gives NULL. A quotient is truncated. */
  readonly arithmetic?: {
    binary(operator: '+' | '-' | '*' | '/', a: string, b: string): string;
    negate(a: string): string;
  };
  /** Writes an expression that gives `yes` or `no`, or NULL if the condition is NULL. */
  choose(condition: string, yes: string, no: string): string;
  /** Writes the condition that a value is one of the constants, which are never NaN. NULL if the value is NULL. */
  isOneOf(type: AttributeType, a: string, constants: string[]): string;
  /** Writes an expression that gives false, or NULL if the value is NULL. */
  falseIfPresent(a: string): string;
  /** The functions that the engine computes exactly as CEL does, by their names in CEL. CEL evaluates all others. */
  readonly functions: Readonly<Record<string, SqlFunction>>;
}

/** A CEL function in an engine's SQL. The SQL counts and compares text by code points. */
export interface SqlFunction {
  /** The types of the operands. The receiver of a method is the first operand. */
  takes: readonly AttributeType[];
  gives: AttributeType;
  write(...operands: string[]): string;
}
