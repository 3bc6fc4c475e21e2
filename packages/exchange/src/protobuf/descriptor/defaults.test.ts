import { describe, expect, test } from 'vitest';
import { defaultFault, isMessageType, Label, mapEntryFault, mapEntryName, Type } from './fields.ts';

const WRONG = 'is not a value of its type';
const of = (type: number, defaultValue: string, values?: Set<string>) =>
  defaultFault({ type, defaultValue }, values);

describe('a default value of a field', () => {
  const I32 = ['-2147483648', '2147483647', '-2147483649', '2147483648'] as const;
  const I64 = [
    '-9223372036854775808',
    '9223372036854775807',
    '-9223372036854775809',
    '9223372036854775808',
  ] as const;
  const U32 = ['0', '4294967295', '-1', '4294967296'] as const;
  const U64 = ['0', '18446744073709551615', '-1', '18446744073709551616'] as const;

  test.each([
    ...[Type.INT32, Type.SINT32, Type.SFIXED32].map((type) => [Type[type], type, I32] as const),
    ...[Type.INT64, Type.SINT64, Type.SFIXED64].map((type) => [Type[type], type, I64] as const),
    ...[Type.UINT32, Type.FIXED32].map((type) => [Type[type], type, U32] as const),
    ...[Type.UINT64, Type.FIXED64].map((type) => [Type[type], type, U64] as const),
  ])('of %s must be an integer within its range', (_name, type, [low, high, below, above]) => {
    expect([low, high].map((text) => of(type, text))).toEqual([undefined, undefined]);
    const bad = [below, above, '', 'x', ' 1', '1 ', '1.0', '+1', '-', '0'.repeat(21)];
    expect(bad.map((text) => of(type, text))).toEqual(bad.map(() => WRONG));
  });

  test.each([Type.FLOAT, Type.DOUBLE])('of a float (type %d) must be a number, inf or nan', (type) => {
    const good = ['0', '12', '1.', '1.5', '12.25', '.5', '.25', '1e5', '1E+5', '1e-55', '-1', '-inf', '-nan'];
    expect([...good, 'inf', 'nan', '1'.repeat(400)].filter((text) => of(type, text))).toEqual([]);
    const bad = ['', '.', '-', 'e5', '1e', '1e+', 'Inf', 'infx', 'xinf', '1 ', '0x1', '1_0', '1'.repeat(401)];
    expect(bad.filter((text) => of(type, text) === WRONG)).toEqual(bad);
  });

  test('must be true or false for a boolean, any text for a string, and a value name for an enum', () => {
    expect([of(Type.BOOL, 'true'), of(Type.BOOL, 'false'), of(Type.BOOL, '')]).toEqual([
      undefined,
      undefined,
      WRONG,
    ]);
    expect([of(Type.STRING, ''), of(Type.BYTES, '\\x')]).toEqual([undefined, undefined]);
    expect(of(Type.ENUM, 'A', new Set(['A']))).toBeUndefined();
    expect(of(Type.ENUM, 'B', new Set(['A']))).toBe(WRONG);
    expect(of(Type.ENUM, 'B')).toBe(WRONG);
  });

  test('is allowed only for singular scalar fields, and is optional', () => {
    const only = 'only a singular scalar field has a default';
    expect(defaultFault({ type: Type.INT32, label: Label.REPEATED, defaultValue: '1' })).toBe(only);
    expect(defaultFault({ type: Type.INT32, label: Label.OPTIONAL, defaultValue: '1' })).toBeUndefined();
    expect([of(Type.MESSAGE, 'x'), of(Type.GROUP, 'x')]).toEqual([only, only]);
    expect(defaultFault({ type: Type.MESSAGE, label: Label.REPEATED })).toBeUndefined();
    expect([Type.MESSAGE, Type.GROUP, Type.STRING, undefined].map(isMessageType)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('a map entry', () => {
  const key = { name: 'key', number: 1, type: Type.STRING };
  const value = { name: 'value', number: 2, type: Type.INT32 };
  const NONE = 'must be a nested message with a `key` 1 and a `value` 2 and nothing else';

  test('must have an integer, a boolean or a string as its key', () => {
    const types = Object.values(Type).filter((type) => typeof type === 'number');
    const good = types.filter((type) => !mapEntryFault({ field: [{ ...key, type }, value] }, true));
    expect(good.map((type) => Type[type])).toEqual([
      ...['INT64', 'UINT64', 'INT32', 'FIXED64', 'FIXED32', 'BOOL', 'STRING'],
      ...['UINT32', 'SFIXED32', 'SFIXED64', 'SINT32', 'SINT64'],
    ]);
  });

  test.each([
    ['no fields', {}],
    ['a key of another name', { field: [{ ...key, name: 'k' }, value] }],
    ['a key of another number', { field: [{ ...key, number: 3 }, value] }],
    ['a key without a type', { field: [{ ...key, type: undefined }, value] }],
    ['a required key', { field: [{ ...key, label: Label.REQUIRED }, value] }],
    ['a value of another name', { field: [key, { ...value, name: 'v' }] }],
    ['a value of another number', { field: [key, { ...value, number: 3 }] }],
    ['a repeated value', { field: [key, { ...value, label: Label.REPEATED }] }],
    ['a third field', { field: [key, value, { ...value, number: 3 }] }],
    ['a nested enum', { field: [key, value], enumType: [] }],
    ['a nested message', { field: [key, value], nestedType: [] }],
    ['an extension', { field: [key, value], extension: [] }],
    ['an extension range', { field: [key, value], extensionRange: [] }],
    ['a oneof', { field: [key, value], oneofDecl: [] }],
  ])('is rejected with %s', (_title, proto) => {
    expect(mapEntryFault(proto as object, true)).toBe(NONE);
  });

  test('must be a nested message', () => {
    const labelled = [key, value].map((field) => ({ ...field, label: Label.OPTIONAL }));
    expect(mapEntryFault({ field: labelled }, true)).toBeUndefined();
    expect(mapEntryFault({ field: labelled }, false)).toBe(NONE);
  });

  test.each([
    ['labels_by_id', 'LabelsByIdEntry'],
    ['x', 'XEntry'],
    ['_x__y', 'XYEntry'],
    ['x_', 'XEntry'],
    ['aB_9', 'AB9Entry'],
  ])('of the field %s is named %s', (field, entry) => {
    expect(mapEntryName(field)).toBe(entry);
  });
});
