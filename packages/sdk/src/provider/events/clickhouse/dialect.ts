/** Writes filters in ClickHouse's SQL. Arithmetic is left to CEL, because SQL integers wrap around on overflow. */
import type { Dialect } from '../../filter/dialect.ts';

export const clickhouse: Dialect = {
  unknown: 'CAST(NULL AS Nullable(Bool))',
  canBind: () => true,
  // ClickHouse compares as CEL does. It compares text by UTF-8 bytes, which gives the same order as code points.
  // Numbers follow IEEE 754: NaN is not less than, equal to, or greater than any number.
  compare: (_, a, operator, b) => `${a} ${operator} ${b}`,
  choose: (condition, yes, no) => `[${no}, ${yes}][${condition} + 1]`,
  // IN gives false for NULL, and treats -0 and 0 as different, so handle these values separately. `a` may be long, so
  // `arrayMap` binds `a` to `x`, and the SQL contains `a` only once.
  isOneOf: (type, a, values) => {
    const list = values.join(', ');
    const tested = type === 'double' ? `x + 0 IN (${list})` : `x IN (${list})`;
    return `arrayMap(x -> if(isNull(x), NULL, ${tested}), [${a}])[1]`;
  },
  falseIfPresent: (a) => `nullIf(isNull(${a}), 1)`,
  functions: {
    startsWith: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `startsWith(${a}, ${b})` },
    endsWith: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `endsWith(${a}, ${b})` },
    contains: { takes: ['string', 'string'], gives: 'bool', write: (a, b) => `position(${a}, ${b}) > 0` },
    size: { takes: ['string'], gives: 'int', write: (a) => `toInt64(lengthUTF8(${a}))` },
  },
};
