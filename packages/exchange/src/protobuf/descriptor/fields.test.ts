import { describe, expect, test } from 'vitest';
import {
  FIELD,
  field,
  INT,
  message,
  proto3,
  violationsOf,
} from '../../../test/descriptors/descriptorSets.ts';

describe('the check of fields', () => {
  test.each([
    ['0', 0],
    ['-1', -1],
    ['536870912', 536_870_912],
  ])('rejects the field number %s', (_title, number) => {
    expect(violationsOf(field({ number }))).toEqual([`${FIELD}.number must be from 1 to 536870911`]);
  });

  test('rejects the numbers from 19000 to 19999, which protobuf reserves', () => {
    for (const number of [19_000, 19_999]) expect(violationsOf(field({ number }))).toHaveLength(1);
    for (const number of [1, 18_999, 20_000, 536_870_911])
      expect(violationsOf(field({ number }))).toEqual([]);
  });

  const reserved = (members: object) => message({ field: [INT], ...members });

  test.each([
    [
      'a duplicate number',
      message({ field: [INT, { ...INT, name: 'g' }] }),
      'field[1].number 1 is the number of another field too',
    ],
    [
      'a reserved number',
      reserved({
        reservedRange: [
          { start: 7, end: 9 },
          { start: 1, end: 2 },
        ],
      }),
      'field[0].number 1 is reserved',
    ],
    [
      'a number in an extension range',
      reserved({ extensionRange: [{ start: 1, end: 2 }] }),
      'field[0].number 1 is reserved for extensions',
    ],
    ['a reserved name', reserved({ reservedName: ['f'] }), 'field[0].name "f" is reserved'],
    [
      'an empty reserved range',
      reserved({ reservedRange: [{ start: 5, end: 5 }] }),
      'reservedRange[0] must run from 1 or above to at most 536870911',
    ],
    [
      'overlapping ranges',
      reserved({ reservedRange: [{ start: 5, end: 9 }], extensionRange: [{ start: 8, end: 9 }] }),
      'extensionRange[0] overlaps reservedRange[0]',
    ],
    ['no type', field({ type: null }), 'field[0].type is required'],
    ['an unknown type', field({ type: 19 }), 'field[0].type "19" is not a value of Type'],
    ['a message type without a type name', field({ type: 'TYPE_MESSAGE' }), 'field[0].typeName is required'],
    [
      'a relative type name',
      field({ type: 'TYPE_MESSAGE', typeName: 'M' }),
      'field[0].typeName "M" must be a full name with a leading dot',
    ],
    [
      'an unresolved type name',
      field({ type: 'TYPE_ENUM', typeName: '.a.X' }),
      'field[0].typeName ".a.X" is not declared in the set',
    ],
    [
      'the name of a message as an enum type',
      field({ type: 'TYPE_ENUM', typeName: '.a.M' }),
      'field[0].typeName ".a.M" is not an enum',
    ],
    [
      'a type name for a scalar type',
      field({ typeName: '.a.M' }),
      'field[0].typeName a scalar type has no type name',
    ],
    [
      'an extendee of a normal field',
      field({ extendee: '.a.M' }),
      'field[0].extendee is for extensions only',
    ],
    ['an unknown oneof', field({ oneofIndex: 1 }), 'field[0].oneofIndex is not an index into oneofDecl'],
    [
      'a repeated field in a oneof',
      message({ field: [{ ...INT, oneofIndex: 0, label: 'LABEL_REPEATED' }], oneofDecl: [{ name: 'o' }] }),
      'field[0].label a oneof has only singular fields',
    ],
    ['a oneof without fields', message({ oneofDecl: [{ name: 'o' }] }), 'oneofDecl[0] has no field'],
    [
      'proto3 optional outside a oneof',
      field({ proto3Optional: true }, proto3),
      'field[0].proto3Optional must be the only field of its oneof',
    ],
    [
      'proto3 optional without a oneof, beside oneofs of other fields',
      message(
        {
          field: [
            { ...INT, proto3Optional: true },
            { ...INT, name: 'g', number: 2, oneofIndex: 0 },
            { ...INT, name: 'h', number: 3, oneofIndex: 1 },
          ],
          oneofDecl: [{ name: 'o' }, { name: 'p' }],
        },
        proto3,
      ),
      'field[0].proto3Optional must be the only field of its oneof',
    ],
    [
      'a required field in proto3',
      field({ label: 'LABEL_REQUIRED' }, proto3),
      'field[0].label proto3 has no required fields',
    ],
    [
      'a group in proto3',
      field({ type: 'TYPE_GROUP', typeName: '.a.M' }, proto3),
      'field[0].type proto3 has no groups',
    ],
    [
      'a default value in proto3',
      field({ defaultValue: '1' }, proto3),
      'field[0].defaultValue proto3 has no default values',
    ],
    [
      'a proto2 enum in proto3',
      field(
        { type: 'TYPE_ENUM', typeName: '.google.protobuf.FieldOptions.CType' },
        { ...proto3, dependency: ['google/protobuf/descriptor.proto'] },
      ),
      'field[0].typeName "google.protobuf.FieldOptions.CType" is a proto2 enum in a proto3 message',
    ],
    [
      'a default value of a message field',
      field({ type: 'TYPE_MESSAGE', typeName: '.a.M', defaultValue: 'x' }),
      'field[0].defaultValue only a singular scalar field has a default',
    ],
    ['a JSON name of 513 characters', field({ jsonName: 'j'.repeat(513) }), 'field[0].jsonName is too long'],
  ])('rejects %s', (_title, file, violation) => {
    expect(violationsOf(file)).toEqual([`file[0].messageType[0].${violation}`]);
  });

  test('rejects a proto2 enum in proto3 if the file of the enum declares its syntax', () => {
    const enumType = [{ name: 'E', value: [{ name: 'V', number: 0 }] }];
    const other = { name: 'b.proto', package: 'b', syntax: 'proto2', enumType };
    const user = field({ type: 'TYPE_ENUM', typeName: '.b.E' }, { ...proto3, dependency: ['b.proto'] });
    expect(violationsOf(user, other)).toEqual([
      'file[0].messageType[0].field[0].typeName "b.E" is a proto2 enum in a proto3 message',
    ]);
  });

  test.each([
    ['TYPE_INT32', ['-2147483648', '2147483647'], ['2147483648', '1.0', '0x1', '']],
    ['TYPE_UINT64', ['0', '18446744073709551615'], ['-1', '18446744073709551616', '9'.repeat(10_000)]],
    ['TYPE_DOUBLE', ['1', '-1.5e10', 'inf', '-inf', 'nan'], ['1,5', 'Infinity', '.']],
    ['TYPE_BOOL', ['true', 'false'], ['1', 'True']],
    ['TYPE_STRING', ['', 'anything'], []],
  ])('accepts only valid default values of %s', (type, good, bad) => {
    for (const defaultValue of good) expect(violationsOf(field({ type, defaultValue }))).toEqual([]);
    for (const defaultValue of bad) {
      expect(violationsOf(field({ type, defaultValue }))).toEqual([
        `${FIELD}.defaultValue is not a value of its type`,
      ]);
    }
  });

  test('accepts only a value of the enum as the default of an enum field', () => {
    const enums = { enumType: [{ name: 'E', value: [{ name: 'V' }] }] };
    const withDefault = (defaultValue: string) =>
      field({ type: 'TYPE_ENUM', typeName: '.a.E', defaultValue }, enums);
    expect(violationsOf(withDefault('V'))).toEqual([]);
    expect(violationsOf(withDefault('W'))).toEqual([`${FIELD}.defaultValue is not a value of its type`]);
  });
});

describe('the check of maps', () => {
  const key = { name: 'key', number: 1, type: 'TYPE_STRING' };
  const value = { name: 'value', number: 2, type: 'TYPE_INT32' };
  const mapField = {
    name: 'by_id',
    number: 1,
    label: 'LABEL_REPEATED',
    type: 'TYPE_MESSAGE',
    typeName: '.a.M.ByIdEntry',
  };
  const entry = { name: 'ByIdEntry', field: [key, value], options: { mapEntry: true } };
  const map = (fields: object[], entryMembers: object = {}) =>
    message({ field: fields, nestedType: [{ ...entry, ...entryMembers }] });
  const abused = 'typeName "a.M.ByIdEntry" is a map entry, which only its map field may name';
  const notEntry =
    'options.mapEntry must be a nested message with a `key` 1 and a `value` 2 and nothing else';

  test('accepts a repeated field of its map entry', () => {
    expect(violationsOf(map([mapField]))).toEqual([]);
  });

  test.each([
    ['a singular field', [{ ...mapField, label: 'LABEL_OPTIONAL' }], `${FIELD}.${abused}`],
    ['a field with another name', [{ ...mapField, name: 'by_name' }], `${FIELD}.${abused}`],
    ['a group', [{ ...mapField, type: 'TYPE_GROUP' }], `${FIELD}.${abused}`],
    [
      'a second field',
      [mapField, { ...mapField, name: 'again', number: 2 }],
      `file[0].messageType[0].field[1].${abused}`,
    ],
  ])('rejects %s of the map entry type', (_title, fields, violation) => {
    expect(violationsOf(map(fields))).toEqual([violation]);
  });

  test.each([
    ['a float as key', { field: [{ ...key, type: 'TYPE_FLOAT' }, value] }],
    ['a repeated value', { field: [key, { ...value, label: 'LABEL_REPEATED' }] }],
    ['no value', { field: [key] }],
    ['a third field', { field: [key, value, { ...value, name: 'more', number: 3 }] }],
    [
      'key and value in the wrong order',
      {
        field: [
          { ...value, number: 1 },
          { ...key, number: 2 },
        ],
      },
    ],
    ['a nested message', { nestedType: [{ name: 'N' }] }],
  ])('rejects a map entry with %s', (_title, members) => {
    expect(violationsOf(map([mapField], members))).toEqual([
      `file[0].messageType[0].nestedType[0].${notEntry}`,
    ]);
  });

  test('rejects a field of another message of the map entry type', () => {
    const thief = { name: 'N', field: [mapField] };
    const file = map([mapField]);
    expect(violationsOf({ ...file, messageType: [...file.messageType, thief] })).toEqual([
      `file[0].messageType[1].field[0].${abused}`,
    ]);
  });

  test('rejects a map entry at the top level of a file', () => {
    expect(violationsOf({ name: 'a', messageType: [entry] })).toEqual([`file[0].messageType[0].${notEntry}`]);
  });
});
