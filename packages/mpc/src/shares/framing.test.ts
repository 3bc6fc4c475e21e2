import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { shareShuffle } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import { registerCountSuffix, ValuesReader, valuesPrefix } from './framing.ts';

const { AggregationPhaseInputSchema, FrequencyVectorSchema } = shareShuffle;
const valuesOf = (count: number) => Uint8Array.from({ length: count }, (_, i) => (i * 31) % 127);

/** Reads a message in pieces of the given size. */
function read(bytes: Uint8Array, size: number, most = 1_000_000) {
  const reader = new ValuesReader(127, most);
  const values: number[] = [];
  for (let at = 0; at < bytes.length; at += size) values.push(...reader.push(bytes.subarray(at, at + size)));
  return { ...reader.end(), values };
}

describe.each([0, 1, 127, 128, 300, 20_000])('%d values', (count) => {
  const data = [...valuesOf(count)];
  const vector = toBinary(FrequencyVectorSchema, create(FrequencyVectorSchema, { data }));
  const input = toBinary(
    AggregationPhaseInputSchema,
    create(AggregationPhaseInputSchema, {
      combinedFrequencyVectors: data,
      registerCount: BigInt(count >> 1),
    }),
  );

  test('are framed like the protobuf messages', () => {
    expect(Buffer.concat([valuesPrefix(count), valuesOf(count)]).equals(vector)).toBe(true);
    const suffix = registerCountSuffix(count >> 1);
    expect(Buffer.concat([valuesPrefix(count), valuesOf(count), suffix]).equals(input)).toBe(true);
    expect(fromBinary(FrequencyVectorSchema, vector).data).toEqual(data);
  });

  test.each([1, 2, 3, 7, 1000, 1_000_000])('are read from chunks of %d bytes', (size) => {
    expect(read(vector, size)).toEqual({ count, registerCount: 0, values: data });
    expect(read(input, size)).toEqual({ count, registerCount: count >> 1, values: data });
  });
});

test('the reader accepts a number of registers without values', () => {
  expect(read(registerCountSuffix(2 ** 31), 1)).toEqual({ count: 0, registerCount: 2 ** 31, values: [] });
});

test.each<[string, number[], RegExp]>([
  ['an unknown field', [0x12, 1, 0], /field 1/],
  ['an unknown field after the values', [0x0a, 1, 5, 0x18, 1], /field 2/],
  ['values that are not packed', [0x08, 1], /field 1/],
  ['a value equal to the modulus', [0x0a, 2, 126, 127], /ringModulus/],
  ['a value of two bytes', [0x0a, 3, 0x80, 1, 0], /ringModulus/],
  ['too many values', [0x0a, 0x81, 0x08], /at most 1024/],
  ['too few values', [0x0a, 3, 1, 2], /end within/],
  ['a truncated number of values', [0x0a, 0x81], /end within/],
  ['a truncated number of registers', [0x0a, 1, 0, 0x10], /end within/],
  ['a number of values of 0', [0x0a, 0], /above 0/],
  ['a number of values with a redundant byte', [0x0a, 0x81, 0x00], /needless/],
  ['a number of values with too many bytes', [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff], /shorter/],
  ['data after the last field', [0x0a, 1, 0, 0x10, 1, 0x10, 1], /after its last field/],
  ['a duplicate field of values', [0x0a, 1, 0, 0x0a, 1, 0], /field 2/],
])('%s is rejected', (_, bytes, message) => {
  for (const size of [1, 100]) expect(() => read(Uint8Array.from(bytes), size, 1024)).toThrow(message);
});
