/** Generates filters that a hostile consumer might write to use up a provider's time or memory. */
import fc from 'fast-check';

/** The attributes that the filters use, with their CEL types. */
export const ATTRIBUTES = {
  s: 'string',
  t: 'string',
  i: 'int',
  d: 'double',
  b: 'bool',
  at: 'timestamp',
} as const;

/** Draws a number that is small, arbitrary, or near the limit `most`. The costs are highest near the limit. */
const amount = (most: number) =>
  fc.oneof(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: most }),
    fc.integer({ min: Math.ceil(most * 0.9), max: most }),
    fc.integer({ min: most, max: Math.ceil(most * 1.2) }),
  );
const one = (...choices: string[]) => fc.constantFrom(...choices);
/** A length slightly above the maximum length of a filter, so that some filters are too long. */
const LENGTH = 36_000;
/** Joins `count` parts, taken from `parts` in a cycle. Stops early if the text would exceed LENGTH characters. */
function repeated(parts: string[], count: number, separator: string): string {
  const chosen: string[] = [];
  for (let k = 0, length = 0; k < count && length < LENGTH; k++) {
    const part = parts[k % parts.length]!;
    length += part.length + separator.length;
    if (k === 0 || length < LENGTH) chosen.push(part);
  }
  return chosen.join(separator);
}
const joined = (count: fc.Arbitrary<number>, part: fc.Arbitrary<string>, separator: string) =>
  fc.tuple(count, part, part).map(([n, a, b]) => repeated([a, b], n, separator));
const wrapped = (
  count: fc.Arbitrary<number>,
  [open, close]: [string, string],
  inside: fc.Arbitrary<string>,
) => fc.tuple(count, inside).map(([n, text]) => open.repeat(n) + text + close.repeat(n));

const letters = fc
  .tuple(amount(30_000), one('a', 'ab', 'é', '😀', '1', ' ', '.'))
  .map(([n, unit]) => unit.repeat(Math.ceil(n / unit.length)));
const quoted = letters.map((text) => `'${text}'`);
const text = fc.oneof(
  { weight: 3, arbitrary: one('s', 't', "'a'", "''", 'string(i)', 'string(at)') },
  quoted,
  joined(amount(900), one('s', 't', "'a'"), '+'),
  joined(amount(90), one('s', "'abcdefghij'"), ' + ').map((sum) => `(${sum})`),
  fc.tuple(one('s', "'x'"), one('t', "'y'")).map(([a, b]) => `(b ? ${a} : ${b})`),
);

const repetition = fc.oneof(
  one('*', '+', '?', '*?', '{0,}', '{1000}', '{999,1000}'),
  amount(1000).map((n) => `{${n}}`),
  amount(1000).map((n) => `{0,${n}}`),
);
const atom = one(
  'a',
  '.',
  '[ab]',
  '[^a]',
  '\\pL',
  '\\PN',
  '[\\pL\\pN]',
  '(?i:k)',
  '\\b',
  '^',
  '$',
  '(a|b)',
  '(a|a)',
  '()',
  '\\x{10FFFF}',
  '[[:alpha:]]',
);
const piece = fc.tuple(atom, fc.option(repetition, { nil: '' })).map(([a, r]) => a + r);
const pattern = fc.oneof(
  joined(amount(250), piece, ''),
  joined(amount(120), piece, '|'),
  fc.tuple(joined(amount(60), piece, '|'), repetition, repetition).map(([p, q, r]) => `((${p})${q})${r}`),
  wrapped(amount(300), ['(', ')'], piece),
  wrapped(amount(200), ['(?:', ')*'], piece),
  fc.tuple(amount(900), piece, piece).map(([n, a, b]) => `a[ab]{${n}}[cd]|${a}|${b}`),
  fc.constant(Array.from({ length: 60 }, () => 'a[ab]{900}[cd]').join('|')),
);
const matching = fc.tuple(text, pattern).map(([a, p]) => `${a}.matches(r"${p}")`);

const item = fc.oneof(
  one('1', 'i', "'a'", 's', 'd', 'true', 'null', '[1]', '{1: 2}', '1 / 0', `'${'x'.repeat(30)}'`),
  quoted,
);
const list = fc.oneof(
  joined(amount(1000), item, ', ').map((items) => `[${items}]`),
  joined(amount(30), one('1', 's', '[1, 2]'), ',').map((items) => `[${items}]`),
  joined(amount(20), one('[1, 2, 3]', '[s]', "['a']"), ' + '),
);
const body = one(
  'x',
  'x == 1',
  'x == s',
  "'a' in [s]",
  'x in [1, 2]',
  'size(s) > 1',
  "s.matches('a*b')",
  '[x, x]',
  '[[x]]',
  'x + x',
  's + s',
  "s + 'a'",
  '1 / 0 == 1',
  'true',
  'false',
  'string(i) == s',
  '{x: x}',
  'dyn(x) == dyn(s)',
);
const macro = fc
  .tuple(one('map', 'filter', 'all', 'exists', 'exists_one'), body)
  .map(([name, inner]) => `.${name}(x, ${inner})`);
const macros = fc.tuple(list, joined(amount(40), macro, '')).map(([range, chain]) => range + chain);
const nested = fc
  .tuple(amount(12), list, body, one('map', 'all', 'exists', 'filter'))
  .map(([depth, range, inner, name]) => {
    let filter = inner;
    for (let k = 0; k < depth && filter.length < LENGTH; k++) filter = `${range}.${name}(x, ${filter})`;
    return filter;
  });

const deep = fc.oneof(
  wrapped(amount(15_000), ['(', ')'], one('true', 'i == 1', '')),
  wrapped(amount(15_000), ['[', ']'], one('1', '')).map((l) => `${l} == [1]`),
  wrapped(amount(3000), ['{1:', '}'], one('1')).map((m) => `${m} == {1: 1}`),
  wrapped(amount(10_000), ['!', ''], one('b', 'true')),
  wrapped(amount(10_000), ['-', ''], one('i', '1')).map((n) => `${n} == 1`),
  wrapped(amount(3000), ['b ? ', ' : false'], one('b')),
  wrapped(amount(3000), ['(b ? true : ', ')'], one('b')),
  wrapped(amount(3000), ['size([', '])'], one('1')).map((n) => `${n} == 1`),
  wrapped(amount(3000), ['dyn(', ')'], one('s')).map((n) => `${n} == 'a'`),
  wrapped(amount(100), ['[', '].map(x, x)'], one('s', '1')).map((l) => `${l} == [1]`),
  joined(amount(8000), one('.a', '[0]', "['a']"), '').map((path) => `s${path} == 1`),
);
const wide = fc.oneof(
  joined(amount(4000), one('b', 'i == 1', 'true', '1 / 0 == 1'), ' || '),
  joined(amount(4000), one('b', 'i == 1', "s == 'a'", 'i / 0 == 1', 's == null'), ' && '),
  joined(amount(3000), one('i', '1', 'i * i'), ' + ').map((sum) => `${sum} == 1`),
  joined(amount(99), one('i', '1', 'i * i'), ' + ').map((sum) => `${sum} == 1`),
  fc.tuple(one('i', 's', '1', 'd'), list).map(([a, l]) => `${a} in ${l}`),
  fc.tuple(list, list).map(([a, c]) => `${a} == ${c}`),
  joined(amount(500), item, ': 1, ').map((keys) => `s in {${keys}: 1}`),
  joined(amount(900), text, ' == ').map((texts) => `(${texts})`),
);
const number = fc.oneof(
  one(
    '9223372036854775807',
    '-9223372036854775808',
    '18446744073709551615u',
    '1e308',
    '253402300799',
    '253402300800',
    '-62135596801',
    '99999999999999999',
  ),
  amount(30_000).map((n) => '1'.repeat(n)),
  amount(30_000).map((n) => `1.${'1'.repeat(n)}e5`),
  amount(30_000).map((n) => `0x${'f'.repeat(n)}`),
);
const conversions = fc.oneof(
  fc
    .tuple(
      one('int', 'uint', 'double', 'timestamp', 'duration', 'bool', 'bytes', 'string', 'type', 'dyn'),
      fc.oneof(
        quoted,
        number,
        text,
        number.map((n) => `'${n}x'`),
      ),
    )
    .map(([name, a]) => `${name}(${a}) == ${name}(${a})`),
  fc.tuple(number, number).map(([a, c]) => `at + duration('${a}s') > timestamp(${c})`),
  number.map((n) => `at < timestamp(${n})`),
  one(
    "at > timestamp('9999-12-31T23:59:59Z') + duration('1s')",
    "at > timestamp('0001-01-01T00:00:00Z') - duration('1s')",
    "at > timestamp('10000-01-01T00:00:00Z')",
    'at.getFullYear() > 99999',
    'timestamp(int(at) * 1000000) > at',
    "at.getHours('Europe/Vienna') == 1",
  ),
  fc.tuple(text, one('contains', 'startsWith', 'endsWith'), text).map(([a, name, c]) => `${a}.${name}(${c})`),
  text.map((a) => `size(${a}) > 3`),
  joined(amount(400), one('bytes(s)', "b'abc'", "bytes('aé')"), ' + ').map((sum) => `size(${sum}) > 1`),
);
/** Text that is not a valid filter in most cases. */
const broken = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 2000, size: 'max' }),
  fc
    .tuple(
      one("'", '"', "r'", "b'", '"""', '[', '{', '(', '//', '`', '\\', '0x', '1e', '.', '?'),
      amount(30_000),
    )
    .map(([unit, n]) => unit.repeat(Math.ceil(n / unit.length))),
  amount(30_000).map((n) => `${' '.repeat(n)}true`),
  amount(30_000).map((n) => `${'\n'.repeat(n)}x`),
  amount(30_000).map((n) => 'a'.repeat(n)),
  fc
    .tuple(amount(3000), one('\\u0041', '\\101', '\\x41', "\\'", '\\\\'))
    .map(([n, code]) => `s == '${code.repeat(n)}'`),
);

const condition = fc.oneof(
  { weight: 3, arbitrary: matching },
  { weight: 3, arbitrary: macros },
  { weight: 3, arbitrary: nested },
  { weight: 2, arbitrary: deep },
  { weight: 2, arbitrary: wide },
  { weight: 2, arbitrary: conversions },
);

/**
 * A hostile condition, several conditions, a condition with a syntax token inserted at random, or text that is not a
 * filter.
 */
export const HOSTILE_FILTER: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: condition },
  {
    weight: 4,
    arbitrary: fc
      .array(condition, { minLength: 2, maxLength: 8 })
      .map((parts) => repeated(parts, parts.length, ' && ')),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(condition, { minLength: 2, maxLength: 30 })
      .map((parts) => repeated(parts, parts.length, ' || ')),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(condition, fc.nat(), one('(', ')', '[', ']', "'", '.', ',', '?', '\u0000', '&&'))
      .map(
        ([filter, at, error]) =>
          filter.slice(0, at % filter.length) + error + filter.slice(at % filter.length),
      ),
  },
  { weight: 1, arbitrary: broken },
);
