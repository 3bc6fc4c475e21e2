import { maximumEdition } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { message, proto3, violationsOf } from '../../../test/descriptors/descriptorSets.ts';

describe('the check of enums', () => {
  const enumOf = (members: object, file: object = {}) => ({
    name: 'a',
    enumType: [{ name: 'E', ...members }],
    ...file,
  });
  const A = { name: 'A', number: 1 };
  const B = { name: 'B', number: 1 };

  test.each([
    ['an enum without values', enumOf({}), 'value is required'],
    [
      'a first value that is not 0, in proto3',
      enumOf({ value: [A] }, proto3),
      'value[0].number must be 0, as the first of every proto3 enum',
    ],
    ['a proto3 enum without values', enumOf({}, proto3), 'value is required'],
    [
      'a duplicate number without allow_alias',
      enumOf({ value: [A, B] }),
      'value[1].number 1 is taken, and allow_alias is not set',
    ],
    [
      'a reserved number',
      enumOf({ value: [A], reservedRange: [{ start: 0, end: 1 }] }),
      'value[0].number 1 is reserved',
    ],
    ['a reserved name', enumOf({ value: [A], reservedName: ['A'] }), 'value[0].name "A" is reserved'],
    [
      'a reserved range that ends before it starts',
      enumOf({ value: [A], reservedRange: [{ start: 5, end: 4 }] }),
      'reservedRange[0] ends before it starts',
    ],
  ])('rejects %s', (_title, file, violation) => {
    expect(violationsOf(file)).toEqual([`file[0].enumType[0].${violation}`]);
  });

  test('accepts a duplicate number with allow_alias', () => {
    expect(violationsOf(enumOf({ value: [A, B], options: { allowAlias: true } }))).toEqual([]);
  });
});

describe('the check of extensions, services and the syntax', () => {
  const extension = { name: 'x', number: 100, type: 'TYPE_INT32', extendee: '.a.M' };
  const extended = (members: object, file: object = {}) =>
    message(
      { extensionRange: [{ start: 100, end: 200 }] },
      { extension: [{ ...extension, ...members }], ...file },
    );

  test.each([
    [
      'a number outside the range',
      extended({ number: 200 }),
      'number 200 is not in an extension range of "a.M"',
    ],
    [
      'a type name for a scalar type',
      extended({ typeName: '.a.M' }),
      'typeName a scalar type has no type name',
    ],
    ['no extendee', extended({ extendee: null }), 'extendee is required'],
    ['an undeclared extendee', extended({ extendee: '.a.X' }), 'extendee ".a.X" is not declared in the set'],
    ['a required label', extended({ label: 'LABEL_REQUIRED' }), 'label an extension cannot be required'],
    ['a oneof', extended({ oneofIndex: 0 }), 'oneofIndex an extension has no oneof'],
    [
      'an ordinary message as extendee, in proto3',
      extended({}, proto3),
      'extendee proto3 extends only the options of google/protobuf/descriptor.proto',
    ],
  ])('rejects an extension with %s', (_title, file, violation) => {
    expect(violationsOf(file)).toEqual([`file[0].extension[0].${violation}`]);
  });

  test.each([
    ['my.google.protobuf', 'FileOptions'],
    ['google.protobuf', 'FileOptionsOfMine'],
  ])('rejects a proto3 extension of %s.%s, which is only named like an options message', (scope, name) => {
    const messageType = [{ name, extensionRange: [{ start: 100, end: 200 }] }];
    const user = {
      name: 'a',
      dependency: ['b'],
      extension: [{ ...extension, extendee: `.${scope}.${name}` }],
    };
    const files = [user, { name: 'b', package: scope, messageType }];
    expect(violationsOf(...files)).toEqual([]);
    expect(violationsOf({ ...user, ...proto3 }, files[1]!)).toEqual([
      'file[0].extension[0].extendee proto3 extends only the options of google/protobuf/descriptor.proto',
    ]);
  });

  test('rejects two extensions of a message with the same number', () => {
    expect(violationsOf(extended({}, { extension: [extension, { ...extension, name: 'y' }] }))).toEqual([
      'file[0].extension[1].number 100 extends "a.M" already',
    ]);
  });

  test('rejects a method with an undeclared output type', () => {
    const method = { name: 'm', inputType: '.a.M', outputType: '.a.X' };
    expect(violationsOf(message({}, { service: [{ name: 'S', method: [method] }] }))).toEqual([
      'file[0].service[0].method[0].outputType ".a.X" is not declared in the set',
    ]);
  });

  test.each([
    [{ syntax: 'proto4' }, 'file[0].syntax "proto4" is not proto2, proto3 or editions'],
    [{ syntax: 'editions' }, 'file[0].edition is not an edition this exchange knows'],
    [{ syntax: 'editions', edition: 'EDITION_MAX' }, 'file[0].edition is not an edition this exchange knows'],
  ])('rejects %o', (members, violation) => {
    expect(violationsOf({ name: 'a', ...members })).toEqual([violation]);
  });

  test('accepts the newest edition that the runtime supports', () => {
    expect(violationsOf({ name: 'a', syntax: 'editions', edition: maximumEdition })).toEqual([]);
  });

  test.each(['proto2', 'proto3', ''])('accepts the syntax %o', (syntax) => {
    expect(violationsOf({ name: 'a', syntax })).toEqual([]);
  });
});
