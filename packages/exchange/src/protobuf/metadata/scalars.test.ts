import { ScalarType } from '@bufbuild/protobuf';
import { type JsonValue, parseJson } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import { Fault, readMapKey, readScalar } from './scalars.ts';

const read = (type: ScalarType, json: string | JsonValue) => {
  const value = readScalar(type, json as JsonValue);
  return value instanceof Fault ? value.message : value;
};
const readText = (type: ScalarType, text: string) => read(type, parseJson(text));

describe('an integer', () => {
  const I32 = [-(2n ** 31n), 2n ** 31n - 1n] as const;
  const I64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;
  const U32 = [0n, 2n ** 32n - 1n] as const;
  const U64 = [0n, 2n ** 64n - 1n] as const;
  const small = [
    ...[ScalarType.INT32, ScalarType.SINT32, ScalarType.SFIXED32].map((type) => [type, ...I32] as const),
    ...[ScalarType.UINT32, ScalarType.FIXED32].map((type) => [type, ...U32] as const),
  ];
  const large = [
    ...[ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64].map((type) => [type, ...I64] as const),
    ...[ScalarType.UINT64, ScalarType.FIXED64].map((type) => [type, ...U64] as const),
  ];

  test.each([...small, ...large])('of type %d is from %s to %s, as a number or as text', (type, min, max) => {
    for (const value of [min, 0n, 1n, max]) {
      const expected = large.some(([other]) => other === type) ? `${value}` : Number(value);
      expect(readText(type, `${value}`)).toBe(expected);
      expect(readText(type, `"${value}"`)).toBe(expected);
    }
    const wrong = `must be an integer from ${min} to ${max}`;
    for (const bad of [`${min - 1n}`, `${max + 1n}`, `"${max + 1n}"`, '1.5', '1e30', '1e999', '"1e999"']) {
      expect(readText(type, bad), bad).toBe(wrong);
    }
    for (const bad of ['""', '" 1"', '"1 "', '"+1"', '"0x1"', '"01x"', 'true', '[]', '{}']) {
      expect(readText(type, bad), bad).toBe(wrong);
    }
  });

  test('may be written with a fraction or an exponent if its value is a safe integer', () => {
    expect(readText(ScalarType.INT32, '1.0')).toBe(1);
    expect(readText(ScalarType.INT32, '"1e3"')).toBe(1000);
    expect(readText(ScalarType.UINT64, '1e15')).toBe('1000000000000000');
    expect(readText(ScalarType.UINT64, '1e16')).toMatch(/^must be an integer/);
    expect(readText(ScalarType.UINT64, '"9007199254740993"')).toBe('9007199254740993');
  });
});

describe('a float', () => {
  test('must be a number within its range, NaN, Infinity or -Infinity', () => {
    expect(readText(ScalarType.DOUBLE, '1.5')).toBe(1.5);
    expect(readText(ScalarType.DOUBLE, '"-1.5e3"')).toBe(-1500);
    expect(readText(ScalarType.DOUBLE, '"0.25"')).toBe(0.25);
    expect(readText(ScalarType.DOUBLE, '"2e+10"')).toBe(2e10);
    expect(readText(ScalarType.DOUBLE, '1.7976931348623157e308')).toBe(Number.MAX_VALUE);
    expect(readText(ScalarType.DOUBLE, '1e309')).toBe('is out of range');
    expect(readText(ScalarType.DOUBLE, '-1e309')).toBe('is out of range');
    expect(readText(ScalarType.FLOAT, '3.4028234663852886e38')).toBe(3.4028234663852886e38);
    expect(readText(ScalarType.FLOAT, '3.5e38')).toBe('is out of range');
    expect(readText(ScalarType.FLOAT, '-3.5e38')).toBe('is out of range');
    for (const word of ['NaN', 'Infinity', '-Infinity']) {
      expect(readText(ScalarType.DOUBLE, `"${word}"`)).toBe(word);
    }
    for (const bad of ['"inf"', '""', '"."', '"1."', '".5"', '"01"', '"1 "', '"-"', '"1e"', 'true', '[]']) {
      expect(readText(ScalarType.DOUBLE, bad), bad).toBe('must be a number');
    }
  });
});

describe('other scalars', () => {
  test('are not coerced from other types', () => {
    expect(read(ScalarType.STRING, 'a')).toBe('a');
    expect(read(ScalarType.STRING, 1)).toBe('must be a string');
    expect(read(ScalarType.BOOL, false)).toBe(false);
    expect(read(ScalarType.BOOL, 'true')).toBe('must be true or false');
    expect(read(ScalarType.BYTES, '_-8')).toBe('/+8=');
    expect(read(ScalarType.BYTES, '')).toBe('');
    expect(read(ScalarType.BYTES, '?')).toBe('must be base64');
    expect(read(ScalarType.BYTES, 1)).toBe('must be base64');
  });
});

describe('the key of a map', () => {
  const key = (type: ScalarType, text: string) => {
    const value = readMapKey(type, text);
    return value instanceof Fault ? value.message : value;
  };

  test('is text that parses as a value of its type', () => {
    expect(key(ScalarType.STRING, '')).toBe('');
    expect([key(ScalarType.BOOL, 'true'), key(ScalarType.BOOL, 'false')]).toEqual(['true', 'false']);
    expect(key(ScalarType.BOOL, '1')).toBe('is not a boolean');
    expect(key(ScalarType.INT32, '-3')).toBe('-3');
    expect(key(ScalarType.INT32, '3.0')).toBe('3');
    expect(key(ScalarType.UINT64, '18446744073709551615')).toBe('18446744073709551615');
    expect(key(ScalarType.UINT32, '-1')).toBe('must be an integer from 0 to 4294967295');
  });
});
