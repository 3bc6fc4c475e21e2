import { describe, expect, it } from 'vitest';
import { ExchangeError } from '../errors/errors.ts';
import { JsonDecimal, MAX_JSON_DEPTH, parseJson, parseJsonBytes, toPlainJson } from './json.ts';

const refused = (text: string | Uint8Array) => {
  try {
    if (typeof text === 'string') parseJson(text);
    else parseJsonBytes(text);
    return undefined;
  } catch (error) {
    return error instanceof ExchangeError && error.reason === 'MALFORMED_JSON'
      ? error.message
      : `bug: ${error}`;
  }
};

describe('parseJson', () => {
  it('agrees with JSON.parse on ordinary documents', () => {
    const samples = [
      '{"a":[1,2,{"b":null}],"c":"x\\u00e9\\n\\"\\\\\\/\\ud83d\\ude00","d":true,"e":false,"f":{},"g":[]}',
      ' [ 1 , -2 , 0 , "" ] ',
      '"plain"',
      'null',
    ];
    for (const sample of samples) expect(toPlainJson(parseJson(sample))).toEqual(JSON.parse(sample));
  });

  it.each([
    ['0', 0],
    ['-7', -7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 18446744073709551615n],
    ['-9223372036854775808', -9223372036854775808n],
  ])('keeps the integer %s exactly', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it.each(['1.0', '1e3', '0.5', '1e400', '-2.5E-3'])('returns a JsonDecimal for %s', (text) => {
    expect(parseJson(text)).toEqual(new JsonDecimal(text));
  });

  it.each([
    ['an empty text', ''],
    ['two values', '1 2'],
    ['a leading zero', '01'],
    ['a lone minus', '-'],
    ['a trailing comma', '[1,]'],
    ['a missing colon', '{"a" 1}'],
    ['a bare word', 'nope'],
    ['NaN', 'NaN'],
    ['a comment', '/* */1'],
    ['single quotes', "{'a':1}"],
    ['an unterminated string', '"abc'],
    ['an unterminated escape', '"abc\\'],
    ['a raw newline in a string', '"a\nb"'],
    ['a raw newline beside an escape', '"\\ta\nb"'],
    ['a bad escape', '"\\x"'],
    ['a bad unicode escape', '"\\u12g4"'],
    ['an escaped lone surrogate', '"\\ud800"'],
    ['surrogates in the wrong order', '"\\udc00\\ud800"'],
    ['NUL in a string', '"\\u0000"'],
    ['NUL in a key', '{"a\\u0000":1}'],
    ['a duplicate key', '{"a":1,"a":1}'],
    ['a duplicate key written with an escape', '{"a":1,"\\u0061":2}'],
    ['__proto__', '{"__proto__":{}}'],
    ['an escaped __proto__', '{"\\u005f_proto__":{}}'],
    ['an integer of 401 digits', '9'.repeat(401)],
  ])('rejects %s', (_what, text) => {
    expect(refused(text)).toMatch(/^Malformed JSON: /);
  });

  it('accepts 64 levels of nesting and rejects 65', () => {
    const nest = (n: number) => '['.repeat(n) + ']'.repeat(n);
    expect(refused(nest(MAX_JSON_DEPTH))).toBeUndefined();
    expect(refused(nest(MAX_JSON_DEPTH + 1))).toMatch(/64 levels/);
    expect(refused(nest(10_000))).toMatch(/64 levels/);
    expect(refused('{"a":'.repeat(10_000))).toMatch(/64 levels/);
  });

  it('accepts as many keys and values as its limit, and rejects one more', () => {
    const text = '{"a":[0,"",{}],"b":null}';
    expect(parseJson(text, 8)).toEqual(parseJson(text));
    expect(() => parseJson(text, 7)).toThrow('Malformed JSON: more than 7 keys and values.');
    // The parser stops at the limit, so it does not notice that the rest is malformed.
    expect(() => parseJson('[0,0,0,!', 3)).toThrow('more than 3 keys and values');
    expect(() => parseJsonBytes(Buffer.from('{"a":0,"b":0,!'), 5)).toThrow('unexpected character');
    expect(() => parseJsonBytes(Buffer.from('{"a":0,"b":0,"c"!'), 5)).toThrow('more than 5 keys and values');
  });

  // JSON.parse is the baseline, because it builds the same value. A parser that examines each character separately
  // takes 40 times as long.
  it.each([
    ['line breaks', '\\n'],
    ['letters', '\\u0041'],
    ['surrogate pairs', '\\ud83d\\ude00'],
    ['quotes', '\\"'],
    ['backslashes', '\\\\'],
  ])(
    'reads 500,000 characters of escaped %s in less than 10 times the time of JSON.parse',
    (_what, escaped) => {
      const text = `"${escaped.repeat(500_000 / escaped.length)}"`;
      expect(parseJson(text)).toBe(JSON.parse(text));
      // Measure ten rounds together, because the clock for CPU time has a coarse resolution.
      const time = (parse: (text: string) => unknown) => {
        const before = process.threadCpuUsage();
        for (let i = 0; i < 10; i++) parse(text);
        const { user, system } = process.threadCpuUsage(before);
        return user + system;
      };
      expect(time(parseJson) / time(JSON.parse)).toBeLessThan(10);
    },
  );

  it('accepts constructor and hasOwnProperty as keys of an object without a prototype', () => {
    const value = parseJson('{"constructor":1,"hasOwnProperty":2,"toString":3}');
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value as object)).toEqual(['constructor', 'hasOwnProperty', 'toString']);
  });

  it('rejects bytes that are not UTF-8, and a byte order mark', () => {
    expect(refused(Uint8Array.of(0x22, 0xff, 0x22))).toMatch(/UTF-8/);
    expect(refused(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toMatch(/UTF-8/);
    expect(refused(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toMatch(/unexpected/);
  });
});

describe('toPlainJson', () => {
  it('returns integers beyond 2^53 as strings', () => {
    expect(toPlainJson(parseJson('{"a":[9007199254740993,1.5,7]}'))).toEqual({
      a: ['9007199254740993', 1.5, 7],
    });
  });
});
