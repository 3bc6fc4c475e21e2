import { expect, it } from 'vitest';
import { Parameters, timeText } from './parameters.ts';

it.each([
  [0n, '1970-01-01 00:00:00.000000+00'],
  [-1n, '1969-12-31 23:59:59.999999+00'],
  [1_700_000_000_123_456n, '2023-11-14 22:13:20.123456+00'],
  [-62_135_596_800_000_000n, '0001-01-01 00:00:00.000000+00'],
  [-62_135_596_800_000_001n, '0001-12-31 23:59:59.999999+00 BC'],
  [253_402_300_800_000_000n, '10000-01-01 00:00:00.000000+00'],
])('writes %s microseconds as %s', (micros, text) => {
  expect(timeText(micros)).toBe(text);
});

it('binds values separately from the text of the statement', () => {
  const parameters = new Parameters();
  const hostile = `'); DROP TABLE events; --`;
  const written = [
    parameters.bindConstant(hostile, 'string'),
    parameters.bindConstant(2n ** 63n - 1n, 'int'),
    parameters.bindConstant(Number.NaN, 'double'),
    parameters.bind([hostile, null], 'text[]'),
  ];
  expect(written).toEqual(['($1::text COLLATE "C")', '$2::int8', '$3::float8', '$4::text[]']);
  expect(parameters.values).toEqual([hostile, '9223372036854775807', 'NaN', [hostile, null]]);
});
