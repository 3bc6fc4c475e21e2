/** Generates random filters and rows, for comparing the SQL of a source with CEL. */
import fc from 'fast-check';
import type { AttributeType, AttributeValue } from '../../src/filters/types.ts';
import { compileFilter } from '../../src/provider/filter/index.ts';

export const ATTRIBUTES = {
  s: 'string',
  t: 'string',
  i: 'int',
  j: 'int',
  u: 'uint',
  d: 'double',
  e: 'double',
  b: 'bool',
  c: 'bool',
  at: 'timestamp',
  'viewer.name': 'string',
  'viewer.age': 'int',
} as const satisfies Record<string, AttributeType>;
type Name = keyof typeof ATTRIBUTES;
const named = (type: AttributeType) =>
  (Object.keys(ATTRIBUTES) as Name[]).filter((n) => ATTRIBUTES[n] === type);

const STRINGS = [
  '',
  'a',
  'A',
  'ab',
  'é',
  'e\u0301',
  '😀',
  '\uffff',
  '\ue000z',
  "it's",
  '"',
  '%',
  '_',
  'a\u0000b',
];
const INTS = [0n, 1n, -1n, 2n, 7n, -7n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 62n, 3_037_000_500n];
const UINTS = [0n, 1n, 7n, 2n ** 63n, 2n ** 64n - 1n];
const DOUBLES = [
  0,
  -0,
  1,
  -1.5,
  0.1,
  Number.NaN,
  Infinity,
  -Infinity,
  2 ** 53,
  5e-324,
  1.7976931348623157e308,
];
const MICROS = [0n, -1n, 1n, 1_700_000_000_000_000n, -62_135_596_800_000_000n, 1_700_000_000_123_456n];

const VALUES: Record<AttributeType, fc.Arbitrary<AttributeValue>> = {
  string: fc.constantFrom(...STRINGS),
  int: fc.constantFrom(...INTS),
  uint: fc.constantFrom(...UINTS),
  double: fc.constantFrom(...DOUBLES),
  bool: fc.boolean(),
  timestamp: fc.constantFrom(...MICROS),
};
const ROW = fc.record(
  Object.fromEntries(
    (Object.keys(ATTRIBUTES) as Name[]).map((name) => [
      name,
      fc.oneof(
        { weight: 4, arbitrary: VALUES[ATTRIBUTES[name]] },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
    ]),
  ),
);

const EMPTY = Object.fromEntries(Object.keys(ATTRIBUTES).map((name) => [name, null]));
/** Rows with values that engines treat differently, and random rows. */
export const ROWS: Record<string, AttributeValue>[] = [
  { ...EMPTY, d: Number.NaN, s: '😀', t: '\uffff', i: 2n ** 63n - 1n },
  { ...EMPTY, e: Number.NaN, d: -0 },
  { ...EMPTY, d: 0, e: 0 },
  ...fc.sample(ROW, { numRuns: 45, seed: 6 + Number(process.env.SEED ?? 1) }),
];
const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\u0000', '\\u0000')}'`;
const literals = {
  string: fc.constantFrom(...STRINGS).map(quoted),
  int: fc.constantFrom(...INTS).map(String),
  uint: fc.constantFrom(...UINTS).map((value) => `${value}u`),
  double: fc.constantFrom('0.0', '-0.0', '1.0', '-1.5', '0.1', '1e308', '(0.0 / 0.0)', '(1.0 / 0.0)'),
  bool: fc.constantFrom('true', 'false', '(1 / 0 == 1)'),
  timestamp: fc
    .constantFrom(...['1970-01-01T00:00:00Z', '2023-11-14T22:13:20.123456Z'])
    .map((text) => `timestamp('${text}')`),
};
export const TIME_PARTS = [
  ...['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear'],
  ...['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'],
];
const TYPES = Object.keys(literals) as AttributeType[];

const grammar = fc.letrec<Record<AttributeType, string>>((tie) => {
  const infix = (type: AttributeType, ...operators: string[]) =>
    fc.tuple(tie(type), fc.constantFrom(...operators), tie(type)).map(([a, o, b]) => `(${a} ${o} ${b})`);
  const choice = (type: AttributeType) =>
    fc.tuple(tie('bool'), tie(type), tie(type)).map(([c, a, b]) => `(${c} ? ${a} : ${b})`);
  const leaf = (type: AttributeType) =>
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom<string>(...named(type)) }, literals[type]);
  const value = (type: AttributeType, ...rest: fc.Arbitrary<string>[]) =>
    fc.oneof({ maxDepth: 4, depthSize: 'small' }, leaf(type), leaf(type), choice(type), ...rest);
  const member = (type: AttributeType) =>
    fc
      .tuple(
        tie(type),
        fc.array(fc.oneof({ weight: 5, arbitrary: literals[type] }, leaf(type)), { maxLength: 4 }),
      )
      .map(([a, list]) => `(${a} in [${list.join(', ')}])`);
  return {
    string: value('string', infix('string', '+')),
    int: value(
      'int',
      infix('int', '+', '-', '*', '/', '%'),
      tie('int').map((a) => `-(${a})`),
      tie('string').map((a) => `size(${a})`),
      fc.tuple(tie('timestamp'), fc.constantFrom(...TIME_PARTS)).map(([at, part]) => `(${at}).${part}()`),
      // Add 0.0, so that the argument is never a literal. A filter that converts a literal is rejected if the literal
      // is too large for an int.
      tie('double').map((a) => `int(${a} + 0.0)`),
    ),
    uint: value('uint', infix('uint', '+', '-', '*', '/', '%')),
    double: value(
      'double',
      infix('double', '+', '-', '*', '/'),
      tie('int').map((a) => `double(${a})`),
    ),
    timestamp: value('timestamp'),
    bool: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      leaf('bool'),
      ...TYPES.map((type) => infix(type, '==', '!=', '<', '<=', '>', '>=')),
      ...TYPES.map(member),
      infix('bool', '&&', '||'),
      infix('bool', '&&', '||'),
      tie('bool').map((a) => `!${a.startsWith('(') || /^\w+$/.test(a) ? a : `(${a})`}`),
      choice('bool'),
      fc.constantFrom(...Object.keys(ATTRIBUTES)).map((name) => `(${name} == null)`),
      fc.constantFrom('has(viewer.name)', '!has(viewer.age)', '(null != s)'),
      fc
        .tuple(tie('string'), fc.constantFrom('startsWith', 'endsWith', 'contains'), tie('string'))
        .map(([a, name, b]) => `${a}.${name}(${b})`),
      tie('string').map((a) => `${a}.matches('^[aA😀]')`),
      leaf('int').map((a) => `[1, 2, 7].exists(x, x == ${a})`),
    ),
  };
});

/** Random filters, often with several conditions, as in practice. Some conditions run in SQL, others do not. */
export const FILTER = fc
  .array(grammar.bool, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(' && '))
  .filter(isAccepted);

/**
 * Returns whether a provider accepts the filter. A provider rejects a filter with a failing conversion of a literal,
 * such as `int(1e308)`.
 */
function isAccepted(filter: string): boolean {
  try {
    compileFilter(filter, ATTRIBUTES);
    return true;
  } catch {
    return false;
  }
}
