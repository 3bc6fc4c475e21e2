import { describe, expect, test } from 'vitest';
import {
  FIELD,
  field,
  INT,
  message,
  proto3,
  violationsOf,
} from '../../../test/descriptors/descriptorSets.ts';

describe('fields', () => {
  test.each([
    ['0', 0],
    ['-1', -1],
    ['one too large', 536_870_912],
  ])('number %s', (_title, number) => {
    expect(violationsOf(field({ number }))).toEqual([`${FIELD}.number must be from 1 to 536870911`]);
  });

  test('numbers from 19000 to 19999 are reserved by protobuf', () => {
    for (const number of [19_000, 19_999]) expect(violationsOf(field({ number }))).toHaveLength(1);
    for (const number of [1, 18_999, 20_000, 536_870_911])
      expect(violationsOf(field({ number }))).toEqual([]);
  });

  const reserved = (members: object) => message({ field: [INT], ...members });

  test.each([
    [
      'a number taken twice',
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
      'a number for extensions',
      reserved({ extensionRange: [{ start: 1, end: 2 }] }),
      'field[0].number 1 is reserved for extensions',
    ],
    ['a reserved name', reserved({ reservedName: ['f'] }), 'field[0].name "f" is reserved'],
    [
      'a range the wrong way round',
      reserved({ reservedRange: [{ start: 5, end: 5 }] }),
      'reservedRange[0] must run from 1 or above to at most 536870911',
    ],
    [
      'ranges that overlap',
      reserved({ reservedRange: [{ start: 5, end: 9 }], extensionRange: [{ start: 8, end: 9 }] }),
      'extensionRange[0] overlaps reservedRange[0]',
    ],
    ['no type', field({ type: null }), 'field[0].type is required'],
    ['an unknown type', field({ type: 19 }), 'field[0].type "19" is not a value of Type'],
    ['a message type without a name', field({ type: 'TYPE_MESSAGE' }), 'field[0].typeName is required'],
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
      'a message declared as an enum',
      field({ type: 'TYPE_ENUM', typeName: '.a.M' }),
      'field[0].typeName ".a.M" is not an enum',
    ],
    [
      'a type name of a scalar',
      field({ typeName: '.a.M' }),
      'field[0].typeName a scalar type has no type name',
    ],
    ['an extendee', field({ extendee: '.a.M' }), 'field[0].extendee is for extensions only'],
    [
      'a oneof that is not there',
      field({ oneofIndex: 1 }),
      'field[0].oneofIndex is not an index into oneofDecl',
    ],
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
      'proto3 optional beside a oneof of another field',
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
      'required in proto3',
      field({ label: 'LABEL_REQUIRED' }, proto3),
      'field[0].label proto3 has no required fields',
    ],
    [
      'a group in proto3',
      field({ type: 'TYPE_GROUP', typeName: '.a.M' }, proto3),
      'field[0].type proto3 has no groups',
    ],
    [
      'a default in proto3',
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
      'a default of a message',
      field({ type: 'TYPE_MESSAGE', typeName: '.a.M', defaultValue: 'x' }),
      'field[0].defaultValue only a singular scalar field has a default',
    ],
    ['a JSON name without end', field({ jsonName: 'j'.repeat(513) }), 'field[0].jsonName is too long'],
  ])('%s', (_title, file, violation) => {
    expect(violationsOf(file)).toEqual([`file[0].messageType[0].${violation}`]);
  });

  test('a proto2 enum in proto3, of a file that declares its syntax', () => {
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
  ])('a default of %s', (type, good, bad) => {
    for (const defaultValue of good) expect(violationsOf(field({ type, defaultValue }))).toEqual([]);
    for (const defaultValue of bad) {
      expect(violationsOf(field({ type, defaultValue }))).toEqual([
        `${FIELD}.defaultValue is not a value of its type`,
      ]);
    }
  });

  test('a default of an enum is one of its values', () => {
    const enums = { enumType: [{ name: 'E', value: [{ name: 'V' }] }] };
    const withDefault = (defaultValue: string) =>
      field({ type: 'TYPE_ENUM', typeName: '.a.E', defaultValue }, enums);
    expect(violationsOf(withDefault('V'))).toEqual([]);
    expect(violationsOf(withDefault('W'))).toEqual([`${FIELD}.defaultValue is not a value of its type`]);
  });
});

describe('maps', () => {
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

  test('a map is a repeated field of its entry', () => {
    expect(violationsOf(map([mapField]))).toEqual([]);
  });

  test.each([
    ['a singular field', [{ ...mapField, label: 'LABEL_OPTIONAL' }], `${FIELD}.${abused}`],
    ['a field of another name', [{ ...mapField, name: 'by_name' }], `${FIELD}.${abused}`],
    ['a group', [{ ...mapField, type: 'TYPE_GROUP' }], `${FIELD}.${abused}`],
    [
      'a second field',
      [mapField, { ...mapField, name: 'again', number: 2 }],
      `file[0].messageType[0].field[1].${abused}`,
    ],
  ])('an entry is not for %s', (_title, fields, violation) => {
    expect(violationsOf(map(fields))).toEqual([violation]);
  });

  test.each([
    ['a float as key', { field: [{ ...key, type: 'TYPE_FLOAT' }, value] }],
    ['a repeated value', { field: [key, { ...value, label: 'LABEL_REPEATED' }] }],
    ['no value', { field: [key] }],
    ['a third field', { field: [key, value, { ...value, name: 'more', number: 3 }] }],
    [
      'key and value the wrong way round',
      {
        field: [
          { ...value, number: 1 },
          { ...key, number: 2 },
        ],
      },
    ],
    ['a message within', { nestedType: [{ name: 'N' }] }],
  ])('an entry with %s is none', (_title, members) => {
    expect(violationsOf(map([mapField], members))).toEqual([
      `file[0].messageType[0].nestedType[0].${notEntry}`,
    ]);
  });

  test('an entry is not for a field of another message', () => {
    const thief = { name: 'N', field: [mapField] };
    const file = map([mapField]);
    expect(violationsOf({ ...file, messageType: [...file.messageType, thief] })).toEqual([
      `file[0].messageType[1].field[0].${abused}`,
    ]);
  });

  test('an entry at the top is none', () => {
    expect(violationsOf({ name: 'a', messageType: [entry] })).toEqual([`file[0].messageType[0].${notEntry}`]);
  });
});
