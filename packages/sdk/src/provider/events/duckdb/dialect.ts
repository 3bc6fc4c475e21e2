/** Writes filters in DuckDB's SQL. */
import type { Comparison, Dialect } from '../../filter/dialect.ts';

/**
 * DuckDB treats NaN as equal to itself and greater than all numbers. In CEL, NaN is not equal to, less than, or greater
 * than any value.
 */
const compareDoubles = (a: string, operator: Comparison, b: string) =>
  `CASE WHEN isnan(${a}) OR isnan(${b}) THEN nullif(${a} IS NULL OR ${b} IS NULL, true) ELSE ${a} ${operator} ${b} END`;

export const duckdb: Dialect = {
  unknown: 'CAST(NULL AS BOOLEAN)',
  canBind: () => true,
  compare: (type, a, operator, b) =>
    type === 'double' ? compareDoubles(a, operator, b) : `${a} ${operator} ${b}`,
  // An arithmetic overflow would fail the whole query. TRY returns NULL instead. In this SQL, NULL represents a CEL
  // evaluation error.
  arithmetic: {
    binary: (operator, a, b) => `TRY(${a} ${operator === '/' ? '//' : operator} ${b})`,
    negate: (a) => `TRY(-${a})`,
  },
  choose: (condition, yes, no) => `CASE ${condition} WHEN true THEN ${yes} WHEN false THEN ${no} END`,
  // DuckDB skips row groups by their Bloom filters, which treat -0 and 0 as different. Adding 0 turns -0 into 0, and
  // keeps DuckDB from using the Bloom filters.
  isOneOf: (type, a, constants) => `${type === 'double' ? `(${a} + 0)` : a} IN (${constants.join(', ')})`,
  falseIfPresent: (a) => `nullif(${a} IS NULL, true)`,
  functions: {
    startsWith: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `starts_with(${a}, ${b})` },
    endsWith: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `suffix(${a}, ${b})` },
    contains: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `contains(${a}, ${b})` },
    size: { takes: ['string'], gives: 'int', write: (a) => `length(${a})` },
  },
};
