/** Writes filters in PostgreSQL's SQL, but leaves arithmetic to CEL, because an overflow makes a statement fail. */
import type { Comparison, Dialect } from '../../filter/dialect.ts';

/**
 * PostgreSQL treats NaN as equal to itself and greater than all numbers. In CEL, NaN is not equal to, less than, or
 * greater than any value.
 */
const compareDoubles = (a: string, operator: Comparison, b: string) =>
  `CASE WHEN ${a} = 'NaN' OR ${b} = 'NaN' THEN nullif(${a} IS NULL OR ${b} IS NULL, true) ELSE ${a} ${operator} ${b} END`;

export const postgres: Dialect = {
  unknown: 'CAST(NULL AS boolean)',
  // PostgreSQL cannot store some texts, such as text with U+0000.
  canBind: (value) => typeof value !== 'string' || isStorable(value),
  compare: (type, a, operator, b) =>
    type === 'double' ? compareDoubles(a, operator, b) : `${a} ${operator} ${b}`,
  choose: (condition, yes, no) => `CASE ${condition} WHEN true THEN ${yes} WHEN false THEN ${no} END`,
  isOneOf: (_type, a, constants) => `${a} IN (${constants.join(', ')})`,
  falseIfPresent: (a) => `nullif(${a} IS NULL, true)`,
  functions: {
    startsWith: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `starts_with(${a}, ${b})` },
    // PostgreSQL has no ends_with. Compare the reversed texts, so that the SQL contains each operand only once. A
    // comparison with `right(a, length(b))` would contain `b` twice.
    endsWith: {
      takes: ['string', 'string'],
      gives: 'bool',
      write: (a, b) => `starts_with(reverse(${a}), reverse(${b}))`,
    },
    contains: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `strpos(${a}, ${b}) > 0` },
    size: { takes: ['string'], gives: 'int', write: (a) => `length(${a})::int8` },
  },
};

/** Whether PostgreSQL can store a text. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();
